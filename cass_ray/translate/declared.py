"""Names that a project's own files declare although they look like CUDA's.

Found in the text as it is, for the whole tree at once: a file is translated knowing them, so that
``cudaCheck`` of one header is not reported in every file that includes it, and a macro
``__shfl_down(v, d)`` keeps the two arguments that it is called with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_LOOKS_LIKE_CUDA = (
    r"(?:cuda|cu[A-Z]|CU[a-z]|CU_|CUB_|CUDA_|CUDART_|CUBLAS_|CUFFT_|CURAND_|CUSPARSE_|CUSOLVER_"
    r"|CUDNN_|NCCL_|NPP_|cudnn|cublas|cufft|curand|cusparse|cusolver|nvtx|NVTX_|nvrtc|NVRTC_|nvml|__shfl)\w*"
)
_NO_TYPE = (
    r"(?!(?:return|case|goto|new|else|delete|throw|do|define|undef|ifdef|ifndef|if|elif|defined"
    r"|include|pragma|using|and|or|not)\b)"
)
_DECLARATION = re.compile(
    rf"(?:^[ \t]*#[ \t]*define[ \t]+|(?<!\w){_NO_TYPE}[A-Za-z_][\w:<>]{{0,80}}[ \t]*[*&]{{0,3}}"
    rf"(?:[ \t]|(?<=[*&]))[ \t]*)({_LOOKS_LIKE_CUDA})(?=\s*(?:[=;,(\[{{):]|$))",
    re.MULTILINE,
)
_OVERLOAD = re.compile(
    r"(?<![\w.>:])(min|max)[ \t]*\([ \t]*(?:const[ \t]+)?"
    r"(?!(?:unsigned|signed|int|long|short|char|bool|float|double|u?int\d+_t|size_t)\b)"
    r"[A-Za-z_][\w:]{0,60}(?:<[\w, ]{0,40}>)?[ \t&]+[A-Za-z_]\w*[ \t]*,"
)
"""``max`` of vectors or other classes: two parameters with types and names."""


def declared_names(texts: Iterable[str]) -> frozenset[str]:
    """What of CUDA's kind the files with these texts define, declare or give to a variable.

    ``min`` and ``max`` are among them where they are declared for classes.
    """
    return frozenset(
        name
        for text in texts
        for pattern in (_DECLARATION, _OVERLOAD)
        for name in pattern.findall(text)
    )
