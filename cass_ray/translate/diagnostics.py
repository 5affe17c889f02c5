"""Every kind of finding has a number that stays: ``CASS1001`` and so on.

1xxx belong to translation, 2xxx to building, 3xxx to running. ``docs/diagnostics.md`` is made of
this table; numbers are never given to another kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cass_ray.translate.protocol import Finding


@dataclass(frozen=True)
class Diagnostic:
    """A kind of finding: what it says, why it is said, and how it is settled.

    ``pattern`` is searched for in a finding's message.
    """

    code: str
    title: str
    why: str
    how: str
    pattern: str = ""

    @property
    def page(self) -> str:
        """Where the documentation describes it."""
        return f"docs/diagnostics.md#{self.code.lower()}"


OTHER = Diagnostic(
    "CASS1000",
    "A CUDA construct without a translation",
    "The word belongs to CUDA and neither the tables nor the rules know what stands for it in HIP.",
    "Replace it by hand. Where HIP has a counterpart, the tables lack it: please report it.",
)

DIAGNOSTICS: tuple[Diagnostic, ...] = (
    Diagnostic(
        "CASS1001",
        "Inline PTX without a translation",
        "PTX is Nvidia's assembly. Many instructions are rewritten in C++; this one is not.",
        "Write what it computes in C++ or with a builtin of clang.",
        r"^inline PTX",
    ),
    Diagnostic(
        "CASS1002",
        "A header that HIP has no counterpart of",
        "The file is part of CUDA and ROCm has no file with the same contents.",
        "Follow the advice of the finding, or keep what needs the header out of the AMD build.",
        r"^the header .* has no counterpart",
    ),
    Diagnostic(
        "CASS1003",
        "A namespace that HIP does not have",
        "Libraries of templates such as CUTLASS and WMMA's sub-byte types are Nvidia's alone.",
        "CUTLASS: Composable Kernel covers the same ground; nvcuda: rocWMMA.",
        r"^the namespace ",
    ),
    Diagnostic(
        "CASS1004",
        "Code chosen for an Nvidia architecture",
        "A branch on __CUDA_ARCH__ is taken on AMD as if the card were a recent Nvidia one.",
        "See whether another branch suits AMD better.",
        r"^code for Nvidia architecture",
    ),
    Diagnostic(
        "CASS1005",
        "A width of 64 where warps have 32 lanes",
        "CDNA's wavefronts have 64 lanes; the translated program counts in warps of 32.",
        "Use 32, or make the kernel right for both widths.",
        r"is 64 on CDNA",
    ),
    Diagnostic(
        "CASS1006",
        "A form of a function that HIP lacks",
        "CUDA has the function with other parameters; the name exists in HIP, this form does not.",
        "Call the form that HIP has.",
        r"with \d+ arguments has no counterpart",
    ),
    Diagnostic(
        "CASS1007",
        "Matrix tiles of rocWMMA",
        "rocWMMA has fragments of other shapes and types than nvcuda::wmma.",
        "Use 16x16x16 on RDNA3; the shapes of each card are in rocWMMA's documentation.",
        r"rocWMMA has tiles",
    ),
    Diagnostic(
        "CASS1008",
        "An operator or a function that HIP defines itself",
        "HIP's vector types have arithmetic, and HIP has atomicMin of a float: a second definition"
        " is ambiguous, not allowed, or differs.",
        "Give the function another name.",
        r"has (?:an operator|a function).* of its own",
    ),
    Diagnostic(
        "CASS1009",
        "libcu++ is libhipcxx",
        "cuda::atomic and others have the same names in libhipcxx, which newer ROCm brings.",
        "For an older ROCm put libhipcxx on the include path.",
        r"^libcu\+\+ is libhipcxx",
    ),
    Diagnostic(
        "CASS1010",
        "A kernel that launches kernels",
        "AMD's devices cannot launch kernels themselves.",
        "Launch from the host, or call the kernel's work as a device function.",
        r"cannot launch kernels",
    ),
    Diagnostic(
        "CASS1011",
        "A file that was not read to its end",
        "A comment or string never ends, or brackets nest too deeply: the rest is left as it is.",
        "Look at the place: a compiler will refuse it as well.",
        r"never ends|brackets inside one another",
    ),
    Diagnostic(
        "CASS1012",
        "A part of CUDA's libraries without a counterpart",
        "The name belongs to a library whose AMD counterpart does not offer it.",
        "Use what the counterpart offers instead.",
        r"has no counterpart in (?:HIP|ROCm)|does not exist in HIP",
    ),
    Diagnostic(
        "CASS1013",
        "A library target of CMake without a counterpart",
        "No package of ROCm defines a target for it.",
        "Remove it from the AMD build, or link what replaces it.",
        r"^the target CUDA::",
    ),
    Diagnostic(
        "CASS1014",
        "Separable compilation",
        "CMake's HIP language has no property for relocatable device code: the options that stand"
        " for it were added.",
        "Link with -fgpu-rdc what is linked with such a target.",
        r"separable compilation",
    ),
    Diagnostic(
        "CASS1015",
        "A PyTorch extension",
        "PyTorch for ROCm translates the sources of a CUDAExtension itself when it builds it.",
        "Translate the sources here only if they are built without PyTorch.",
        r"^PyTorch for ROCm",
    ),
    Diagnostic(
        "CASS1016",
        "HIP that counts on wavefronts of 32 lanes",
        "A HIP program's wavefront has 32 lanes on RDNA and 64 on CDNA: it compiles for both.",
        "Follow the advice, then run both: cass verify --arch gfx1100 --arch gfx942.",
        r"64 lanes on CDNA: |lanes: on CDNA |wavefront of CDNA has 64|CDNA has half as many",
    ),
    Diagnostic(
        "CASS1017",
        "A build that downloads",
        "The build fetches sources while it configures; builds of cass project have no network.",
        "Give the sources: cass project --dependency NAME=DIR, as often as needed.",
        r"^the build downloads",
    ),
    Diagnostic(
        "CASS2001",
        "The port does not build",
        "The project's own build command failed with ROCm's tools.",
        "The report has the end of what it wrote.",
    ),
    Diagnostic(
        "CASS3001",
        "The port's tests fail",
        "The project's own tests fail on the emulated device.",
        "The report has the end of what they wrote. Run the same tests on CUDA to see whether they"
        " pass there.",
    ),
)

_PATTERNS = tuple((re.compile(item.pattern), item) for item in DIAGNOSTICS if item.pattern)


def diagnostic_of(finding: Finding) -> Diagnostic:
    """The kind of ``finding``; :data:`OTHER` for a name that is not translated."""
    return next((item for pattern, item in _PATTERNS if pattern.search(finding.message)), OTHER)


def documentation() -> str:
    """The text of ``docs/diagnostics.md``."""
    lines = [
        "# Diagnostics",
        "",
        "What `cass translate` and `cass project` report has a number. Numbers stay: 1xxx are of",
        "the translation, 2xxx of the build, 3xxx of the tests. The page is made of",
        "`cass_ray/translate/diagnostics.py`.",
    ]
    for item in (OTHER, *DIAGNOSTICS):
        lines += ["", f"## {item.code}", "", f"**{item.title}.** {item.why}", "", item.how]
    return "\n".join(lines) + "\n"
