"""The ``rules`` engine: tables of names, and rules for what is more than a name."""

from cass_ray.translate.rules.engine import RulesTranslator

__all__ = ["RulesTranslator"]
