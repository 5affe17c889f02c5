"""The ``rules`` engine: CUDA source to HIP source, by tables and rules, without a compiler."""

from __future__ import annotations

from cass_ray.translate.protocol import NO_CONTEXT, Context, Translation
from cass_ray.translate.rules import (
    extremes,
    groups,
    guards,
    headers,
    leftovers,
    names,
    overloads,
    results,
    standard_library,
    tables,
    vectors,
    warp,
)
from cass_ray.translate.rules.ptx import statements
from cass_ray.translate.rules.rewrite import Rewrite

_SNIPPETS = (
    *("lane", "ballot", "syncwarp", "shuffle", "match", "reduce", "minmax", "extremes"),
    *("average", "rounding"),
    *("simd", "dot", "exact"),
    *("half", "bfloat16", "nanosleep", "space", "cache", "bits", "numeric", "copy", "surface"),
    *("group_votes", "group_reduce", "group_scan", "group_copy"),
)
"""In the order in which they may use each other."""
_NEEDS = {"match": ("ballot",), "group_scan": ("group_reduce",)}


class RulesTranslator:
    """Deterministic translation; the same input always gives the same output."""

    @property
    def name(self) -> str:
        """``rules``."""
        return "rules"

    @property
    def version(self) -> str:
        """A digest of the tables and of the code of the rules."""
        return tables.fingerprint()

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        """Translate one file; what has no translation stays as it is and is a finding.

        Never raises on any input: text that is not C++ comes back unchanged.
        """
        unit = Rewrite(source, filename, context)
        headers.rewrite_includes(unit)
        guards.rewrite_guards(unit)
        warp.rewrite_warps(unit)
        names.rewrite_calls(unit)
        names.rename_surface_reads(unit)
        names.rename_device_functions(unit)
        results.cast_results(unit)
        extremes.rewrite_extremes(unit)
        names.rename_names(unit)
        names.rename_namespaces(unit)
        names.rename_matrix_functions(unit)
        names.replace_absent(unit)
        names.drop_words(unit)
        vectors.guard_operators(unit)
        overloads.guard_overloads(unit)
        groups.rewrite_groups(unit)
        statements.translate_assembly(unit)
        standard_library.check_standard_library(unit)
        leftovers.report_leftovers(unit)
        _add_snippets(unit)
        findings = tuple(sorted(unit.findings, key=lambda item: (item.line, item.column)))
        return Translation(unit.edits.apply(source), findings, unit.counts)


def _add_snippets(unit: Rewrite) -> None:
    """Insert the snippets that the translated code calls, behind the runtime header."""
    wanted = set(unit.snippets)
    for name in unit.snippets:
        wanted.update(_NEEDS.get(name, ()))
    if not wanted:
        return
    text = "".join(tables.snippet(name) for name in _SNIPPETS if name in wanted)
    headers.insert_after_runtime(unit, text.replace("\n", unit.source.newline))
