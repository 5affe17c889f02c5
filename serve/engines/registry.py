"""Engines by name."""

from __future__ import annotations

from cass_ray.api.schema import LIFT, RULES
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.rules import RulesTranslator
from cass_ray.translate.rules.reverse import HipToCudaTranslator
from serve.engines.base import TranslationEngine
from serve.engines.source import RulesEngine, SourceEngine


def make_engine(translator: str) -> TranslationEngine:
    """The engine behind ``translator``.

    Raises:
        cass_ray.translate.engines.registry.UnknownEngineError: there is none of that name.
        cass_ray.toolchain.errors.ToolMissing: its program or toolchain is not installed.
    """
    if translator == RULES:
        return RulesEngine(RulesTranslator(), HipToCudaTranslator())
    if translator == LIFT:
        from serve.engines.lifter import LiftEngine  # the lifter takes long to import

        return LiftEngine()
    return SourceEngine(make_translator(translator))
