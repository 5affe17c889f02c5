"""Engines by name."""

from __future__ import annotations

import difflib

from cass_ray.translate.engines.hipify import ENGINES as HIPIFY_ENGINES
from cass_ray.translate.engines.hipify import HipifyTranslator
from cass_ray.translate.engines.prefixes import CHAT_PREFIX, MODEL_PREFIX
from cass_ray.translate.protocol import Translator
from cass_ray.translate.rules import RulesTranslator
from cass_ray.translate.rules.reverse import HipToCudaTranslator

ENGINES = ("rules", "rules-hip-to-cuda", *HIPIFY_ENGINES)
"""The engines that :func:`make_translator` knows, besides ``model:PATH`` and ``chat:MODEL``."""


IN_PROCESS_ENGINES = frozenset({"rules"})
"""Engines that take about a millisecond a file: a job need not send their work to the cluster."""


class UnknownEngineError(ValueError):
    """No engine has that name; the message names the nearest one."""


def make_translator(engine: str = "rules") -> Translator:
    """The engine called ``engine``.

    Raises:
        UnknownEngineError: there is none of that name.
        ToolMissing: its program is not installed.
    """
    if engine == "rules":
        return RulesTranslator()
    if engine == "rules-hip-to-cuda":
        return HipToCudaTranslator()
    if engine in HIPIFY_ENGINES:
        return HipifyTranslator(engine)
    if engine.startswith(MODEL_PREFIX):
        return _model(engine)
    if engine.startswith(CHAT_PREFIX):
        return _chat(engine)
    nearest = difflib.get_close_matches(engine, ENGINES, n=1, cutoff=0.4)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    raise UnknownEngineError(
        f"no engine is called {engine!r}{hint} (engines: {', '.join(ENGINES)}, model:PATH, "
        "chat:MODEL)"
    )


def _model(engine: str) -> Translator:
    from cass_ray.config import SettingsError
    from cass_ray.translate.engines.model import ModelTranslator

    try:
        return ModelTranslator.from_engine(engine)
    except SettingsError as error:
        raise UnknownEngineError(str(error)) from None


def _chat(engine: str) -> Translator:
    from cass_ray.config import SettingsError
    from cass_ray.translate.engines.chat import ChatTranslator

    try:
        return ChatTranslator.from_engine(engine)
    except SettingsError as error:
        raise UnknownEngineError(str(error)) from None
