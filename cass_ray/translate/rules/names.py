"""Names: functions, types, constants, macros and namespaces that HIP spells differently."""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules import tables
from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.text import Span

_CAST_ALREADY = re.compile(r"(?:\(|(?:reinterpret|static)_cast\s*<)\s*(?:const\s+)?void\b")
_WMMA = re.compile(r"nvcuda\s*::\s*wmma\b")
_CUB_ALIAS = re.compile(r"\bnamespace\s+cub\s*=\s*(?:::\s*)?(?:hipcub|(?:\w+\s*::\s*)+cub)\s*;")
_CLASS_KEY = re.compile(r"\b(?:struct|union|enum)\s+\Z")
_DEFINITION = re.compile(r"\s*(?:final\s*)?(?:\{|:(?!:))")
_CLASS = re.compile(r"\b(?:struct|class)\s+\w+[^;{}()]*\Z")
_QUALIFIED = re.compile(r"(\w+)\s*::\s*\Z")
_QUALIFIERS = re.compile(r"(?<![\w>)])(?<![\w>)]::)(?:[A-Za-z_]\w*\s*::\s*)+\Z")
_SCOPES = re.compile(r"(?<![\w>)])(?<![\w>)]::)(?:[A-Za-z_]\w*::\s*)+\Z")
"""A space before ``::cub`` qualifies nothing: ``return ::cub::Max()``, ``#define N ::cub::``."""
_STATEMENT = re.compile(r"(?:return|case|throw|else)\s+(?=::)")
_CUB_HOST = re.compile(
    r"cub\s*::\s*(?:SwitchDevice|CurrentDevice|DeviceCount|SmVersion|MaxSmOccupancy)\b"
)
"""What CUB has for the host and hipCUB lacks: in the snippet ``cub_host``."""
_CUB_INSIDE = re.compile(r"\bnamespace\s+cub\s*\{")
_CUB_QUALIFIED = re.compile(r"\bnamespace\s+((?:\w+\s*::\s*)+)cub\s*\{")
_ASSERTED = re.compile(r"\bstatic_assert\s*\([\s\\]*\Z")
_PYTORCHS_CUB = "cuda::"
"""``at::cuda`` has a namespace ``cub``, with functions of PyTorch's."""
_LOOK_BACK = 80
_PRAGMA = re.compile(
    r"^([ \t]*#[ \t]*define[ \t]+\w+[ \t]+)#[ \t]*pragma[ \t]+([^\"\n]*?)[ \t]*$", re.MULTILINE
)
_MACRO_NAMED = re.compile(r"(?:#[ \t]*(?:define|undef|ifdef|ifndef)[ \t]+|\bdefined[ \t(]+)\Z")
_TAGS = frozenset({"cudaError"})
"""Tags of types, which programs take for a name that is free."""
_STRUCTURES = frozenset({"hipArray", "hipMipmappedArray", "hipGraphNode", "hipGraphExec"})
_GIVEN = re.compile(r"\s*=(?!=)")
_TYPED = re.compile(
    r"(?<!\w)(?!(?:return|case|throw|new|else|typename|struct|enum|class|const|volatile|static|using"
    r"|virtual|inline|operator|extern|constexpr)\b)[A-Za-z_]\w*(?:\s*[*&]+\s*|\s+)\Z"
)
_DECLARED = re.compile(r"\s*(?:=(?!=)|[;,){\[])")
_TYPE_HERE = re.compile(r"\s*[&*]*\s*\w|\s*\(|\s*[&*]+\s*[,)>]|\s*>(?!=)")
"""It matches what follows a type's name: ``cudaError e``, ``cudaError(1)``, ``f(cudaError&)``."""
_NO_ARGUMENTS = re.compile(r"\s*\(\s*\)")
_PASTED = re.compile(r"\s*##")
_PREFIXES = {
    "cuda": "hip",
    "cublas": "hipblas",
    "cufft": "hipfft",
    "curand": "hiprand",
    "cusolver": "hipsolver",
    "cusparse": "hipsparse",
}
"""Starts of names that macros put together, ``cuda##call``; HIP's names end as CUDA's do."""
_PREFIX = re.compile("|".join(_PREFIXES))
_NULL = re.compile(r"nullptr|NULL|0")
_ALIGNMENTS = ("__CUDA_ALIGN__", "__builtin_align__")
"""Macros of CUDA's headers that programs also define for compilers without CUDA."""
_BY_MENTION = (
    (
        {"cudaMemLocation", "cudaMemLocationTypeDevice"},
        {
            "cudaMemPrefetchAsync": "cass::mem_prefetch_async",
            "cudaMemAdvise": "cass::mem_advise",
        },
        "location",
    ),
    (
        {"cudaEventWaitExternal"},
        {"cudaStreamWaitEvent": "cass::stream_wait_event"},
        "external_events",
    ),
)
"""Names that a file says, what its calls become, and the snippet that has it."""


def rename_names(unit: Rewrite) -> None:
    """Apply the name table to every identifier."""
    table = tables.names()
    casts = tables.casts()
    for word, offsets in unit.words.items():
        hip = table.get(word)
        if hip is None or (word in _ALIGNMENTS and any(map(unit.is_definition_of_macro, offsets))):
            continue
        own = word in _TAGS and any(_declares_variable(unit, each, word) for each in offsets)
        for offset in offsets:
            if offset in unit.handled:
                continue
            if hip == word:
                unit.unchanged(offset)
                continue
            if word in _TAGS and _is_own_tag(unit, offset, word, declared=own):
                unit.handled.add(offset)
                continue
            if word in casts:
                _cast_argument(unit, offset, word)
            _drop_class_key(unit, offset, word, hip)
            unit.rename(offset, word, hip)


def _is_own_tag(unit: Rewrite, offset: int, word: str, *, declared: bool) -> bool:
    """Whether the tag of a type of CUDA's is a name of the program's own here, of no type.

    ``declared``: the program has a variable of that name somewhere.
    """
    code = unit.source.code
    if _NO_ARGUMENTS.match(code, offset + len(word)):
        return unit.is_member(offset) or unit.is_declaration(offset, word)
    if unit.is_member(offset) or _declares_variable(unit, offset, word):
        return True
    before = code[max(0, offset - _LOOK_BACK) : offset].rstrip()
    if before.endswith((";", "{", "}", ",")) and _GIVEN.match(code, offset + len(word)):
        return True
    return declared and _TYPE_HERE.match(code, offset + len(word)) is None


def _declares_variable(unit: Rewrite, offset: int, word: str) -> bool:
    code = unit.source.code
    before = code[max(0, offset - _LOOK_BACK) : offset]
    return (
        _TYPED.search(before) is not None and _DECLARED.match(code, offset + len(word)) is not None
    )


def rename_pasted_prefixes(unit: Rewrite) -> None:
    """``cuda##call`` in a macro is ``hip##call``, ``cublasI##type##amax`` is ``hipblasI…``.

    Some of HIP's names end otherwise: the compiler finds those that a program has of them.
    """
    for word, offsets in unit.words.items():
        prefix = _PREFIX.match(word)
        if prefix is None or word in tables.names():
            continue
        hip = _PREFIXES[prefix[0]] + word[prefix.end() :]
        for offset in offsets:
            pasted = _PASTED.match(unit.source.code, offset + len(word))
            if pasted and any(each.startswith(word) for each in tables.names()):
                unit.rename(offset, word, hip)


def rewrite_pragmas_in_macros(unit: Rewrite) -> None:
    """``#define UNROLL #pragma unroll``, which nvcc takes for a pragma where the macro is used."""
    for match in _PRAGMA.finditer(unit.source.code):
        unit.edits.replace(match.end(1), match.end(2), f'_Pragma("{match[2]}")')
        unit.converted(match.start())


def rewrite_calls(unit: Rewrite) -> None:
    """Overloads and default arguments that CUDA has and HIP has not."""
    for word, forms in tables.calls().items():
        for offset in unit.words.get(word, ()):
            call = unit.call(offset, word)
            form = forms.get(len(call[0])) if call else None
            if call is None or form is None or offset in unit.handled:
                continue
            if unit.is_hip and form.hip == word:
                continue
            arguments, _, closing = call
            dropped = _dropped(form, arguments)
            if not form.hip or (
                form.append[1:] and dropped and not _NULL.fullmatch(unit.text(dropped))
            ):
                message = (
                    f"{word} with {len(arguments)} arguments has no counterpart: {form.reason}"
                )
                unit.report(offset, word, Severity.ERROR, message)
                unit.handled.add(offset)
                continue
            if dropped:
                unit.edits.replace(arguments[arguments.index(dropped) - 1][1], dropped[1], "")
            elif form.append:
                unit.edits.insert(closing, f", {form.append}")
            if word in tables.casts():
                _cast_argument(unit, offset, word)
            unit.rename(offset, word, form.hip)
            if form.snippet:
                unit.snippets.add(form.snippet)


def _dropped(form: tables.CallMapping, arguments: list[Span]) -> Span | None:
    """The argument that ``form`` drops."""
    if not form.append.startswith("-"):
        return None
    return arguments[int(form.append[1:] or len(arguments) - 1)]


def rewrite_forms_by_mention(unit: Rewrite) -> None:
    """Calls whose form, or a flag, HIP has not, in files that speak of it.

    Where memory is wanted is a location in CUDA 13, the number of a device in HIP and before. Both
    forms of ``cudaMemAdvise`` have four arguments: an overload decides.
    """
    for mentions, forms, snippet in _BY_MENTION:
        if not mentions & unit.words.keys():
            continue
        for word, hip in forms.items():
            for offset in unit.words.get(word, ()):
                if unit.call(offset, word) and offset not in unit.handled:
                    unit.rename(offset, word, hip)
                    unit.snippets.add(snippet)


def rename_surface_reads(unit: Rewrite) -> None:
    """``surf2Dread<T>(surface, x, y)``: HIP has only the form that stores to a pointer."""
    for word in ("surf1Dread", "surf2Dread", "surf3Dread"):
        for offset in unit.words.get(word, ()):
            after = unit.source.code[offset + len(word) : offset + len(word) + 8].lstrip()
            if offset in unit.handled or unit.is_member(offset):
                continue
            if after.startswith("<"):
                unit.rename(offset, word, f"cass::{word}")
                unit.snippets.add("surface")


def replace_absent(unit: Rewrite) -> None:
    """Error codes that HIP never returns keep a number of their own, and so do other enumerators
    that it lacks; ``cudaDataType::`` before them goes, since a cast takes their place."""
    for word, expression in tables.absent().items():
        for offset in unit.words.get(word, ()):
            if offset in unit.handled:
                continue
            before = _QUALIFIERS.search(unit.source.code, max(0, offset - _LOOK_BACK), offset)
            if before:
                keyword = _STATEMENT.match(before[0])
                start = before.start() + (keyword.end() if keyword else 0)
                unit.edits.replace(start, offset, "")
            unit.rename(offset, word, expression)


def _drop_class_key(unit: Rewrite, offset: int, word: str, hip: str) -> None:
    """``struct cudaGraphicsResource`` is ``hipGraphicsResource``: HIP's types are typedefs.

    Forward declarations keep the keyword: HIP's header has declared the type. So does a definition:
    the type is the program's own. So do handles' own, which headers name before they are declared.
    """
    code = unit.source.code
    if _DEFINITION.match(code, offset + len(word)):
        return
    key = _CLASS_KEY.search(code, max(0, offset - 24), offset)
    if hip.startswith("ihip") or hip in _STRUCTURES:
        return  # The tag of a struct itself, declared or not.
    if key and tables.types().get(word) == hip and code[offset + len(word)] not in ";":
        unit.edits.replace(key.start(), offset, "")


def _cast_argument(unit: Rewrite, offset: int, word: str) -> None:
    cast = tables.casts()[word]
    call = unit.call(offset, word)
    if call is None or cast.argument >= len(call[0]):
        return
    span = call[0][cast.argument]
    if _CAST_ALREADY.match(unit.source.code, span[0]):
        return
    # No cast of C++ makes of any pointer one that is neither const nor volatile.
    c_style = not cast.type.startswith("const")
    opening = f"({cast.type})(" if c_style else f"reinterpret_cast<{cast.type}>("
    unit.edits.insert(span[0], opening)
    unit.edits.insert(span[1], ")")


def rename_namespaces(unit: Rewrite) -> None:
    """``cub`` is ``hipcub``, ``thrust::cuda`` is ``thrust::hip``, and so for Thrust's own parts.

    Sources for both vendors that call ``hipcub`` ``cub`` themselves do without that.
    """
    code = unit.source.code
    scopes = _scopes_of_cub(code) if "cub" in unit.words else ()
    inside = _CUB_INSIDE.search(code) is not None
    for offset in unit.words.get("cub", ()):
        if offset in unit.handled:
            continue
        alias = _CUB_ALIAS.search(code, max(0, offset - _LOOK_BACK), offset + _LOOK_BACK)
        if alias and alias.start() < offset < alias.end():
            unit.edits.replace(*alias.span(), "")
        else:
            _rename_cub(unit, offset, scopes, declared_inside=inside)
    for cuda, hip in (("cuda", "hip"), ("cuda_cub", "hip_rocprim")):
        for offset in unit.words.get(cuda, ()):
            qualifier = _QUALIFIED.search(code, max(0, offset - 40), offset)
            if qualifier and qualifier[1] in {"thrust", "system"}:
                unit.rename(offset, cuda, hip)


def _scopes_of_cub(code: str) -> tuple[str, ...]:
    """Qualifiers of a ``cub`` that is the project's own, and of PyTorch's."""
    owners = {re.sub(r"\s", "", each) for each in _CUB_QUALIFIED.findall(code)}
    return (_PYTORCHS_CUB, *owners)


def _rename_cub(
    unit: Rewrite, offset: int, scopes: tuple[str, ...], *, declared_inside: bool
) -> None:
    """``cub`` at ``offset`` is ``hipcub``.

    A project can wrap CUB in a namespace of its own (``CUB_WRAPPED_NAMESPACE``, ``CUB_NS_PREFIX``);
    hipCUB can not be wrapped: its name stands alone. A namespace ``cub`` that is declared inside of
    another is the project's.
    """
    code = unit.source.code
    start = max(0, offset - _LOOK_BACK)
    wrapped = _SCOPES.search(code, start, offset)
    scope = re.sub(r"\s", "", wrapped[0]) if wrapped else ""
    before = code[start : wrapped.start() if wrapped else offset].rstrip().removesuffix("::")
    after = code[offset + 3 : offset + 16].lstrip()
    if not after.startswith("::") and not before.rstrip().endswith(("namespace", "=")):
        return
    if scope.endswith(scopes):
        return
    if _CUB_HOST.match(code, offset):
        unit.rename(offset, "cub", "cass")
        unit.snippets.add("cub_host")
    else:
        unit.rename(offset, "cub", "hipcub")
    if wrapped and not declared_inside:
        unit.edits.replace(*wrapped.span(), "")


def rename_closure_checks(unit: Rewrite) -> None:
    """An assertion that a type is an extended lambda, of which only nvcc has a notion.

    To clang the type of each lambda is a class like others; that it is one is still asserted.
    """
    for word in (
        "__nv_is_extended_host_device_lambda_closure_type",
        "__nv_is_extended_device_lambda_closure_type",
    ):
        for offset in unit.words.get(word, ()):
            if _ASSERTED.search(unit.source.code, max(0, offset - _LOOK_BACK * 2), offset):
                unit.rename(offset, word, "__is_class")


_OF_WMMA = re.compile(r"\bwmma\s*::\s*\Z")


def rename_matrix_functions(unit: Rewrite) -> None:
    """``nvcuda::wmma`` is ``rocwmma``: the same functions, on the shapes of AMD's matrix units.

    ``cass::wmma`` stands between: a fragment is a warp's, and rocWMMA's is a wavefront's; and it
    does without rocWMMA where that is not installed.
    """
    code = unit.source.code
    for offset in unit.words.get("nvcuda", ()):
        match = _WMMA.match(code, offset)
        before = code[max(0, offset - 24) : offset].split()
        if match:
            unit.edits.replace(offset, match.end(), "cass::wmma")
        elif before[-2:] == ["using", "namespace"]:
            start = code.rindex("using", 0, offset)
            unit.edits.replace(start, offset + len("nvcuda"), "namespace wmma = cass::wmma")
        else:
            continue
        unit.snippets.add("matrix")
        unit.converted(offset)
        message = (
            "tiles are of 16x16x16 where rocWMMA is on RDNA3: other shapes do not compile; on CDNA,"
            " and without rocWMMA, they are multiplied without matrix units"
        )
        unit.report(offset, "nvcuda::wmma", Severity.WARNING, message)
    for offset in unit.words.get("experimental", ()):
        if _OF_WMMA.search(code, max(0, offset - 64), offset):
            message = "wmma::experimental (fragments of 1 and 4 bits) has no counterpart in HIP"
            unit.report(offset, "wmma::experimental", Severity.ERROR, f"{message}'s libraries")


_ALSO_OF_THE_HOST = frozenset(
    {
        *("clock", "lrint", "lrintf", "llrint", "llrintf", "lround", "lroundf", "llround"),
        *("llroundf", "ilogb", "ilogbf", "scalbln", "scalblnf", "remquo", "remquof", "sincos"),
        *("tgamma", "tgammaf"),
    }
)
"""Device functions whose names are C's, too."""
_LACKED_BY_HOSTS = frozenset({"rsqrt", "rsqrtf", "rcbrt", "rcbrtf"})
"""Functions that HIP has for devices and lacks for the host."""


def _is_called(code: str, offset: int, word: str) -> bool:
    """Whether an opening parenthesis follows; elsewhere the name may be any word, as in the lists
    of operators that PyTorch's macros go through: ``_(aten, rsqrt)``."""
    end = offset + len(word)
    return code[end : end + _LOOK_BACK].lstrip().startswith("(")


_OF_PLAIN_NAMES = "special_values"
"""``sincospi`` and others of C's kind, which are arguments of a program's macros as well."""


def rename_device_functions(unit: Rewrite) -> None:
    """Device functions that HIP lacks: another name, or a snippet that does the same."""
    if unit.is_hip:
        return
    for word, offsets in unit.words.items():
        found = tables.device_functions().get(word)
        if found is None:
            continue
        # A program adds overloads of the cached loads and stores for types of its own; other
        # functions that it defines under CUDA's name are its own altogether.
        # A name without underscores in front may be an overload of another file's, too.
        is_own = unit.declares(word) if word.startswith("__") else unit.is_own(word)
        if is_own and (found.snippet != "cache" or _is_own_member(unit, word)):
            continue
        for offset in offsets:
            if word in _ALSO_OF_THE_HOST and offset not in unit.device:
                continue
            if word in _LACKED_BY_HOSTS and (
                offset in unit.device or not _is_called(unit.source.code, offset, word)
            ):
                continue
            if (
                found.snippet == _OF_PLAIN_NAMES
                and not word.startswith("_")
                and not _is_called(unit.source.code, offset, word)
            ):
                continue
            if _drop_own_scope(unit, offset) or not (
                unit.is_member(offset) or unit.is_declaration(offset, word)
            ):
                unit.rename(offset, word, found.hip)
                if found.snippet:
                    unit.snippets.add(found.snippet)


def _is_own_member(unit: Rewrite, word: str) -> bool:
    """Whether a class of the file has a function of the name, which its own functions call."""
    code = unit.source.code
    declared = (each for each in unit.words[word] if unit.is_declaration(each, word))
    braces = (unit.source.enclosing_braces(offset)[:1] for offset in declared)
    return any(_CLASS.search(code, max(0, at[0] - 200), at[0]) for at in braces if at)


def _drop_own_scope(unit: Rewrite, offset: int) -> bool:
    """Remove ``__nv_fp8_interpretation_t::`` before an enumerator of a type that a snippet gives;
    whether it was there."""
    before = _QUALIFIERS.search(unit.source.code, max(0, offset - _LOOK_BACK), offset)
    if before is None or before[0].partition("::")[0].strip() not in tables.device_functions():
        return False
    unit.edits.replace(before.start(), offset, "")
    return True


def drop_words(unit: Rewrite) -> None:
    """Remove attributes and macros that mean nothing to HIP.

    Directives that ask for one by its name, or define it for other compilers, stay as they are.
    """
    code = unit.source.code
    for word in tables.dropped():
        for offset in unit.words.get(word, ()):
            if _MACRO_NAMED.search(code, max(0, offset - 32), offset):
                continue
            end = offset + len(word)
            while code[end : end + 1] == " ":
                end += 1
            unit.edits.replace(offset, end, "")
            unit.converted(offset)
