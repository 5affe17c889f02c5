"""Names that a project's own files declare although they look like CUDA's.

Found in the text without its comments and strings, for the whole tree at once: a file is translated
knowing them, so that ``cudaCheck`` of one header is not reported in every file that includes it,
and a macro ``__shfl_down(v, d)`` keeps the two arguments that it is called with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_LOOKS_LIKE_CUDA = (
    r"(?:cuda|cu[A-Z]|CU[a-z]|CU_|CUB_|CUDA_|CUDART_|CUBLAS_|CUFFT_|CURAND_|CUSPARSE_|CUSOLVER_"
    r"|CUDNN_|NCCL_|NPP_|cudnn|cublas|cufft|curand|cusparse|cusolver|nvtx|NVTX_|nvrtc|NVRTC_|nvml|__shfl)\w*"
)
_NO_TYPE = (
    r"(?!(?:return|case|goto|new|else|delete|throw|do|define|undef|ifdef|ifndef|if|elif|defined"
    r"|include|pragma|using|and|or|not)\b)"
)
_NO_CODE = re.compile(
    r"""(["'])(?:\\.|(?!\1)[^\\\n]){0,4096}\1|//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)""", re.DOTALL
)
"""Strings and comments: "for cudaMalloc3DArray, in elements" declares nothing."""
_MACRO = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+({_LOOKS_LIKE_CUDA})", re.MULTILINE)
_CONFIGURED = re.compile(
    r"^[ \t]*#[ \t]*(?:undef|cmakedefine(?:01)?)[ \t]+(CU[A-Z]*_\w+)", re.MULTILINE
)
"""In what configure or CMake make a header of."""
_DECLARATION = re.compile(
    rf"(?:(?<!\w){_NO_TYPE}[A-Za-z_][\w:<>]{{0,80}}[ \t]*[*&]{{0,3}}"
    rf"(?:[ \t]|(?<=[*&]))[ \t]*)({_LOOKS_LIKE_CUDA})(?=\s*(?:[=;,(\[{{):]|$))",
    re.MULTILINE,
)
_ENUMERATION = re.compile(r"\benum\b[^{};()]{0,160}\{([^{}]*)\}")
_ENUMERATOR = re.compile(
    rf"(?:^|[,\n]|\*/)[ \t]*({_LOOKS_LIKE_CUDA})(?=[ \t]*(?:[=,/]|$))", re.MULTILINE
)
_OVERLOAD = re.compile(
    r"(?<![\w.>:])(min|max)[ \t]*\([ \t]*(?:const[ \t]+)?"
    r"(?!(?:unsigned|signed|int|long|short|char|bool|float|double|u?int\d+_t|size_t)\b)"
    r"[A-Za-z_][\w:]{0,60}(?:<[\w, ]{0,40}>)?[ \t&]+[A-Za-z_]\w*[ \t]*,"
)
"""``max`` of vectors or other classes: two parameters with types and names."""


_OWN_NAMESPACE = re.compile(r"\bnamespace\s+cuda\s*(?:::\s*(\w+)\s*(?:::\s*\w+\s*)*)?\{")
_MEMBER = re.compile(
    r"\b(?:namespace|struct|class|enum(?:\s+class)?|using|typename)\s+(\w+)|\b(\w+)\s*\("
)
_BRACE = re.compile(r"[{}]")
_LONGEST_NAMESPACE = 1 << 20


def _of_own_namespace(text: str) -> Iterator[str]:
    """``cuda::NAME`` for what a file declares in a namespace ``cuda`` of the project's own.

    What it adds to ``cuda::std`` is for libcu++.
    """
    for match in _OWN_NAMESPACE.finditer(text):
        if match[1]:
            names = {match[1]}
        else:
            body = text[match.end() : _end_of_body(text, match.end())]
            names = {first or second for first, second in _MEMBER.findall(body)}
        yield from (f"cuda::{name}" for name in names - {"std"})


def _end_of_body(text: str, start: int) -> int:
    depth = 1
    for brace in _BRACE.finditer(text, start, start + _LONGEST_NAMESPACE):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return len(text)


_CREATED = re.compile(
    r"\bcudaCreate(Texture|Surface)Object\s*\(\s*&\s*(?:[\w\[\]]{1,80}\s*(?:\.|->)\s*){0,8}"
    r"(\w+)\s*(?:\[[^\[\]]{0,80}\]\s*)?,"
)


def object_kinds(texts: Iterable[str]) -> frozenset[str]:
    """``texture object NAME`` for each variable or member in which files with these texts create a
    texture object, and so for surface objects."""
    return frozenset(
        f"{kind.lower()} object {name}" for text in texts for kind, name in _CREATED.findall(text)
    )


_DATA_TYPE = re.compile(r"\bcudaDataType(?:_t)?\s+([A-Za-z_]\w*)\s*[=;,){]")


def data_types(texts: Iterable[str]) -> frozenset[str]:
    """``data type NAME`` for each variable or member that holds one in files with these texts."""
    return frozenset(f"data type {name}" for text in texts for name in _DATA_TYPE.findall(text))


def declared_names(texts: Iterable[str]) -> frozenset[str]:
    """What of CUDA's kind the files with these texts define, declare or give to a variable.

    ``min`` and ``max`` are among them where they are declared for classes, and ``cuda::NAME`` for
    members of a namespace ``cuda`` of their own, and what :func:`object_kinds` and
    :func:`data_types` say.
    """
    return frozenset().union(*map(_declared_in, texts))


@lru_cache(maxsize=4096)  # units of a project share most of their headers
def _declared_in(whole: str) -> frozenset[str]:
    text = _NO_CODE.sub(" ", whole)
    found = {*object_kinds([text]), *data_types([text]), *_of_own_namespace(text)}
    for pattern in (_MACRO, _CONFIGURED, _DECLARATION, _OVERLOAD):
        found.update(pattern.findall(text))
    for body in _ENUMERATION.findall(text):
        found.update(_ENUMERATOR.findall(body))
    return frozenset(found)
