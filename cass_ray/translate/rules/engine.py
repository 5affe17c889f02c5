"""The ``rules`` engine: CUDA source to HIP source, by tables and rules, without a compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cass_ray.translate.protocol import NO_CONTEXT, Context, Translation
from cass_ray.translate.rules import (
    absent_fields,
    block_reductions,
    compute_types,
    cub_warps,
    driver_files,
    forward_declarations,
    grids,
    groups,
    guards,
    half_operators,
    headers,
    host_constants,
    image_kinds,
    launch_bounds,
    launches,
    macros_of_hip,
    managed,
    mapped_memory,
    min_max,
    names,
    old_pytorch,
    overloads,
    own_enumerations,
    own_functions,
    printing,
    random_numbers,
    restricted_elements,
    results,
    standard_library,
    std_names,
    storage,
    substitute_headers,
    tables,
    textures,
    thrust_headers,
    unhandled,
    vectors,
    warp,
    widths,
)
from cass_ray.translate.rules.guards import ARCHITECTURE_MACRO
from cass_ray.translate.rules.ptx import statements
from cass_ray.translate.rules.regions import ARCHITECTURES
from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.text import split_mark

_SNIPPETS = (tables.SNIPPETS / "order.txt").read_text(encoding="utf-8").split()
"""In the order in which they may use each other."""
_NEEDS = {
    "extremes": ("host_extremes",),
    "match": ("ballot",),
    "fp8": ("half_raw",),
    "group_scan": ("group_reduce",),
    "image_arrays": ("images",),
    "image_copies": ("images",),
    "image_objects": ("images", "image_arrays"),
    "image_moves": ("images", "image_copies"),
    "image_queries": ("images", "image_arrays", "image_objects"),
    "textures": ("images", "texels"),
    "surfaces": ("images",),
}


@dataclass(frozen=True)
class Pass:
    """One walk over a file. ``reason`` is why it stands where it does in :data:`PASSES`.

    Passes meet in three places of :class:`Rewrite`: ``handled`` (a word that one pass has dealt
    with is skipped by the later ones that look), ``edits`` (insertions at one offset keep the order
    in which they were made) and ``snippets``.
    """

    name: str
    apply: Callable[[Rewrite], None]
    reason: str


def _add_snippets(unit: Rewrite) -> None:
    """Insert the snippets that the translated code calls, behind the runtime header."""
    wanted = set(unit.snippets)
    for name in unit.snippets:
        wanted.update(_NEEDS.get(name, ()))
    if not wanted:
        return
    text = "".join(tables.snippet(name) for name in _SNIPPETS if name in wanted)
    headers.insert_after_runtime(
        unit,
        text.replace("\n", unit.source.newline),
        for_hip_alone=wanted <= {"host_extremes", "half_log"},
    )


PASSES: tuple[Pass, ...] = (
    Pass(
        "includes",
        headers.rewrite_includes,
        "first: notes where the runtime header ends, before anything else is inserted there, "
        "and the first header of libcu++",
    ),
    Pass(
        "old PyTorch",
        old_pytorch.renew_pytorch,
        "behind the includes, which place the runtime header; no later pass knows these names",
    ),
    Pass(
        "guards",
        guards.rewrite_guards,
        "before the names and the left-overs, which skip the macros dealt with here",
    ),
    Pass(
        "warps",
        warp.rewrite_warps,
        "before the names, which would count shuffles and votes as the same in HIP",
    ),
    Pass(
        "bindings of vectors",
        vectors.bind_elements,
        "anywhere: asks for a snippet, by words that no other pass changes",
    ),
    Pass(
        "block reductions",
        block_reductions.rewrite_block_reductions,
        "before the names, which would count those of a kernel without `return` twice",
    ),
    Pass(
        "own functions",
        own_functions.guard_own_functions,
        "behind the warps, which rewrite the shuffles inside of them, and before the names",
    ),
    Pass(
        "kinds of images",
        image_kinds.name_image_kinds,
        "before the names, which would keep the type that is written",
    ),
    Pass(
        "textures",
        textures.rewrite_textures,
        "before calls, surface reads and names, which would call HIP's own functions",
    ),
    Pass(
        "mapped memory",
        mapped_memory.keep_mapped_memory,
        "before names, which would call HIP's own function",
    ),
    Pass(
        "managed symbols",
        managed.rewrite_managed_symbols,
        "before the calls and names, which would call HIP's functions of symbols",
    ),
    Pass(
        "calls",
        names.rewrite_calls,
        "before the names, whose table knows one form of a function and not its overloads",
    ),
    Pass(
        "locations",
        names.rewrite_forms_by_mention,
        "behind the calls, which know the forms that only CUDA 13 has",
    ),
    Pass(
        "absent fields",
        absent_fields.rewrite_absent_fields,
        "anywhere: a member's name is no other pass's",
    ),
    Pass(
        "halves",
        half_operators.add_operators,
        "anywhere: asks for snippets, by words that no other pass needs",
    ),
    Pass(
        "surface reads",
        names.rename_surface_reads,
        "before the names, for the form with a template argument",
    ),
    Pass(
        "random numbers",
        random_numbers.rewrite_random_numbers,
        "before the names, which would call rocRAND's functions",
    ),
    Pass(
        "device functions",
        names.rename_device_functions,
        "before the left-overs, which report intrinsics that nobody handled",
    ),
    Pass(
        "results",
        results.cast_results,
        "behind the renamings of device functions: a cast goes before the new name",
    ),
    Pass(
        "extremes",
        min_max.rewrite_min_max,
        "behind the casts and before the names, which would count min and max as unchanged",
    ),
    Pass(
        "stand-ins",
        substitute_headers.name_substitute_headers,
        "before the left-overs, which report what HIP lacks",
    ),
    Pass(
        "compute types",
        compute_types.name_compute_types,
        "before the names, which would make a data type of the argument",
    ),
    Pass(
        "macros of HIP",
        macros_of_hip.free_names,
        "behind the includes: adds lines in front of others",
    ),
    Pass(
        "own enumerations",
        own_enumerations.keep_enumerators,
        "before the names and those that HIP lacks",
    ),
    Pass(
        "forward declarations",
        forward_declarations.rewrite_forward_declarations,
        "before the names, which would rename what is declared and keep its type",
    ),
    Pass(
        "names",
        names.rename_names,
        "behind all that treats a single call: what is left needs another spelling only",
    ),
    Pass(
        "headers of Thrust",
        thrust_headers.include_used_headers,
        "anywhere: adds lines behind one that no pass changes",
    ),
    Pass(
        "pragmas in macros",
        names.rewrite_pragmas_in_macros,
        "anywhere: lines that no other pass takes",
    ),
    Pass(
        "files of the driver",
        driver_files.name_drivers_files,
        "anywhere: texts that no other pass takes",
    ),
    Pass(
        "pasted prefixes",
        names.rename_pasted_prefixes,
        "anywhere: words that stand before ##, which no other pass takes",
    ),
    Pass(
        "warps of CUB",
        cub_warps.rename_warps,
        "before the namespaces, which would call hipCUB's",
    ),
    Pass(
        "namespaces",
        names.rename_namespaces,
        "before libcu++ is checked: thrust::cuda is no part of it",
    ),
    Pass(
        "closures",
        names.rename_closure_checks,
        "before the left-overs, which report what nvcc alone knows",
    ),
    Pass(
        "matrix functions",
        names.rename_matrix_functions,
        "before the left-overs, which report nvcuda",
    ),
    Pass(
        "absent",
        names.replace_absent,
        "before the left-overs, which report CUDA's error codes",
    ),
    Pass(
        "dropped words",
        names.drop_words,
        "before the left-overs, which report attributes and macros of CUDA",
    ),
    Pass(
        "register",
        storage.drop_register,
        "anywhere: a word that no other pass takes",
    ),
    Pass(
        "constants of the host",
        host_constants.give_host_constants,
        "anywhere: words that no other pass takes",
    ),
    Pass(
        "sizes of shared memory",
        storage.drop_sizes,
        "anywhere: the text between brackets of declarations, which no other pass takes",
    ),
    Pass(
        "alignments",
        storage.move_attributes,
        "anywhere, as the word before",
    ),
    Pass(
        "restricted elements",
        restricted_elements.drop_restricted_elements,
        "anywhere, as the word before: qualifiers are taken by no other pass",
    ),
    Pass(
        "vector types",
        vectors.name_types,
        "before the operators, whose guards begin where a class key may stand",
    ),
    Pass(
        "operators",
        vectors.guard_operators,
        "behind the includes: a guard may begin where the runtime header was inserted",
    ),
    Pass(
        "launch bounds",
        launch_bounds.bracket_templates,
        "anywhere: brackets around arguments, which no other pass adds or moves",
    ),
    Pass(
        "overloads",
        overloads.guard_overloads,
        "beside the operators, as the other pass that guards definitions",
    ),
    Pass(
        "grids",
        grids.rewrite_grids,
        "anywhere: members that no other pass takes",
    ),
    Pass(
        "groups",
        groups.rewrite_groups,
        "before inline assembly, whose operands may be votes of a group",
    ),
    Pass(
        "results of printf",
        printing.rewrite_printf,
        "anywhere before the assembly: puts brackets around calls, whose arguments stay",
    ),
    Pass(
        "assembly",
        statements.translate_assembly,
        "behind every pass that edits expressions: operands are taken over with the edits inside",
    ),
    Pass(
        "plain library",
        std_names.take_std_names,
        "behind includes and namespaces, as the next one, which reports what is left",
    ),
    Pass(
        "standard library",
        standard_library.check_standard_library,
        "behind includes and namespaces, which say where libcu++ is used first and what is "
        "none of it",
    ),
    Pass(
        "launches",
        launches.repair_launches,
        "anywhere: edits the blanks inside of brackets, which no other pass touches",
    ),
    Pass(
        "wavefront width",
        widths.report_widths,
        "anywhere: reads files that are HIP already, where the passes above leave warps alone",
    ),
    Pass(
        "left-overs",
        unhandled.report_unhandled,
        "behind every pass that handles words: reports the words that none has",
    ),
    Pass(
        "snippets",
        _add_snippets,
        "last: inserts what the translated code calls, behind the runtime header",
    ),
)
"""In the order in which they are made."""


class RulesTranslator:
    """Deterministic translation; the same input always gives the same output."""

    @property
    def name(self) -> str:
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
        return _translated(source, filename, context).translation


def preferred_architecture(source: str, filename: str, context: Context) -> int:
    """The ``__CUDA_ARCH__`` that a file of its own is translated for (:mod:`.guards` says why)."""
    return _translated(source, filename, context).architecture


_NEXT_BEST = (800, 700, 890, 900)
"""What is new in 800 has a translation; in 890 and 900 less has."""


@dataclass(frozen=True)
class _Translated:
    translation: Translation
    architecture: int


def _translated(source: str, filename: str, context: Context) -> _Translated:
    """The translation for the newest architecture whose code has one.

    With errors in all of them that with the fewest, of equals the first of :data:`_NEXT_BEST`.
    """
    given = context.cuda_architecture
    if given or ARCHITECTURE_MACRO not in source:
        return _translated_for(source, filename, context, given or ARCHITECTURES[0])
    tried: dict[int, _Translated] = {}
    for architecture in ARCHITECTURES:
        made = _translated_for(source, filename, context, architecture)
        if not made.translation.errors:
            return made
        tried[architecture] = made
    return min((tried[each] for each in _NEXT_BEST), key=lambda made: len(made.translation.errors))


def _translated_for(source: str, filename: str, context: Context, architecture: int) -> _Translated:
    mark, text = split_mark(source)
    unit = Rewrite(text, filename, context, architecture)
    for each in PASSES:
        each.apply(unit)
    findings = tuple(sorted(unit.findings, key=lambda item: (item.line, item.column)))
    made = Translation(mark + unit.edits.apply(text), findings, unit.counts)
    return _Translated(made, unit.architecture)
