"""Every kind of finding has a number that stays: ``CASS1001`` and so on.

1xxx belong to sources, 2xxx to building, 3xxx to running. ``docs/diagnostics.md`` is made of
this table; numbers are never given to another kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cass_ray.nearest import did_you_mean
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

    @property
    def words(self) -> frozenset[str]:
        """All words of its texts, in lower case."""
        return frozenset(re.findall(r"\w+", f"{self.title} {self.why} {self.how}".lower()))


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
        "A branch on __CUDA_ARCH__ is taken on AMD as if the card were the newest Nvidia one whose"
        " code has a translation.",
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
        "Matrix tiles",
        "rocWMMA has fragments of other shapes and types than nvcuda::wmma. Without it, and on"
        " CDNA, tiles are multiplied without matrix units.",
        "Use 16x16x16; the shapes of each card are in rocWMMA's documentation.",
        r"^tiles are of 16x16x16",
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
        "cuda::atomic and others have the same names in libhipcxx, which newer ROCm brings. What"
        " the host's standard library has for devices too (cuda::std::plus) is taken from there.",
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
        "CASS1018",
        "A copy in the wrong direction",
        "The direction says that the destination or the source is memory of the other side. AMD's"
        " runtime believes it, where Nvidia's may look at the pointers.",
        "Name the direction in which the arguments lie.",
        r"^wrong direction of a copy",
    ),
    Diagnostic(
        "CASS1019",
        "A size or value in the wrong unit",
        "sizeof of a pointer is not the size of what it points to, and cudaMemset sets bytes.",
        "Count in bytes of elements; fill with other values than 0 by a kernel.",
        r"^the size of a pointer|sets each byte to",
    ),
    Diagnostic(
        "CASS1020",
        "Memory after it was freed",
        "The pointer is used, or freed again, after a free that every run makes.",
        "Free it once, after its last use.",
        r" is (?:freed twice|used after it is freed)$",
    ),
    Diagnostic(
        "CASS1021",
        "Memory that the other side cannot reach",
        "Host code cannot read what cudaMalloc gives; kernels cannot read what malloc, new or an"
        " array gives, except on some machines.",
        "Copy it, or allocate it with cudaMallocManaged.",
        r"^device memory on the host|^host memory for a kernel",
    ),
    Diagnostic(
        "CASS1022",
        "A launch with a wrong configuration",
        "The block is larger than any card's, the kernel's dynamic shared memory is not given, or"
        " the grid leaves the last elements out.",
        "Follow the advice of the finding.",
        r"cannot be launched$|^no shared memory for|^a grid that is rounded down",
    ),
    Diagnostic(
        "CASS1023",
        "A launch that nobody asks about",
        "A launch reports no error by itself: without a question the program goes on with what was"
        " in memory before. A port fails in other places than its original.",
        "Check cudaGetLastError() after launches, and what a synchronization returns.",
        r"^a launch that nobody asks about",
    ),
    Diagnostic(
        "CASS1024",
        "A result that is read before it is there",
        "Kernels and copies of streams go on after the call; what they write is read with no wait.",
        "Synchronize the stream, the event or the device first.",
        r" is read before \w* ?has to be done|may not have happened yet",
    ),
    Diagnostic(
        "CASS1025",
        "A barrier that not all threads reach",
        "__syncthreads() has to be reached by all threads of a block; others wait for ever, or are"
        " let through, which differs between cards.",
        "Move the barrier out of the condition; let threads skip the work, not the barrier.",
        r"^a barrier that not all threads reach|^threads that return do not reach",
    ),
    Diagnostic(
        "CASS1026",
        "No barrier between threads that share memory",
        "One thread writes shared memory and another one reads it, or the other way round. Warps"
        " that happen to run in step hide it, on one card and not on the next.",
        "Put __syncthreads() between the two. `cass verify` finds races in what runs.",
        r"^no barrier before other threads",
    ),
    Diagnostic(
        "CASS1027",
        "Tensors of an old PyTorch",
        "PyTorch has had no TH and THC since 1.11. Checks, allocation and streams of theirs are"
        " translated to ATen and c10; their tensors and BLAS have no other name there.",
        "Write it with operators of ATen: at::Tensor, at::mm, at::addmm_out.",
        r"was PyTorch's until 1\.10",
    ),
    Diagnostic(
        "CASS1028",
        "Textures where there are no texture units",
        "CDNA has no image instructions from gfx942 on: HIP's headers refuse the functions there."
        " Most of it is software in a port for CDNA (cass::tex2D, cass::malloc_array): objects of"
        " arrays, of linear and pitched memory, layers, gathers, surfaces. This is none of that:"
        " texture references, cube maps, gradients, mipmaps, sRGB, the driver's functions.",
        "Make objects of references. Else read the array through a pointer and filter in the"
        " kernel, or build for RDNA.",
        r"needs texture units",
    ),
    Diagnostic(
        "CASS1029",
        "A function that ends without the value it is to return",
        "Clang takes its end for a place that is never reached, and lets run whatever code follows;"
        " nvcc's device side returns, with any value.",
        "Return a value. Until then -fno-strict-return has clang return as well.",
        r"ends? without a return",
    ),
    Diagnostic(
        "CASS1030",
        "Operators and functions that HIP computes otherwise",
        "HIP's headers define an operator or a function of the same name that gives other results"
        " for some arguments. Functions are replaced where that is possible; operators of HIP's own"
        " classes and Bessel functions of any order are not.",
        "Call the function of CUDA's that the finding names, or make sure that no such argument"
        " comes.",
        r"^HIP computes",
    ),
    Diagnostic(
        "CASS1031",
        "A guard that the port does not satisfy",
        "The program asks for a newer Nvidia architecture or CUDA release than the port stands for,"
        " or for a feature of one generation of cards: the code for all others is taken, which may"
        " be a poorer way or none.",
        "Read both branches. Where the other one can be compiled for AMD, add"
        " __HIP_PLATFORM_AMD__ to its condition.",
        r"^a guard asks for more than|is defined for one generation of Nvidia's cards alone",
    ),
    Diagnostic(
        "CASS1032",
        "Random numbers that are not cuRAND's",
        "The device's XORWOW, MRG32k3a and Philox give cuRAND's sequences in a port. Generators of"
        " the host's interface, Poisson's and tables' numbers are rocRAND's, which has other ones"
        " from the same seed.",
        "Compare what does not depend on single numbers, or read both programs' from one file.",
        r"^the random numbers of \w+ are not cuRAND's",
    ),
    Diagnostic(
        "CASS1033",
        "A format of printf that is no literal",
        "Clang copies the strings that a kernel prints by %s where it can read the format. Else the"
        " host gets their addresses, which are the device's.",
        "Write the format in the call, or print no strings by it.",
        r"^the format \w+ is no literal",
    ),
    Diagnostic(
        "CASS2001",
        "The port does not build",
        "The project's own build command failed with ROCm's tools.",
        "The report has the end of what it wrote.",
    ),
    Diagnostic(
        "CASS2002",
        "An option of nvcc that is left in a build file",
        "The expression around it is not understood: it stays as it is, and hipcc refuses it.",
        "Write what hipcc has in its place, or leave it out.",
        r"an option of nvcc that hipcc does not have",
    ),
    Diagnostic(
        "CASS2003",
        "A command of FindCUDA without a counterpart",
        "It makes files for Nvidia's cards, or finds what only CUDA has.",
        "Build code objects by hipcc --genco, or leave the command out of the build for AMD.",
        r"^the command \w+ of FindCUDA",
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


def diagnostic_numbered(code: str) -> Diagnostic:
    """The kind with the number ``code``, as CASS1005; else ``ValueError`` with the nearest."""
    every = {item.code: item for item in (OTHER, *DIAGNOSTICS)}
    wanted = code.strip().upper()
    if wanted not in every:
        raise ValueError(f"no finding has the number {code}: {did_you_mean(wanted, every)}")
    return every[wanted]


def diagnostics_about(asked: str) -> list[Diagnostic]:
    """The kind with the number ``asked``, else those whose text has its words, each as a whole.

    Raises ``ValueError`` where there is none; the message says what is like it.
    """
    if re.fullmatch(r"(?i)cass\d*", asked.strip()):
        return [diagnostic_numbered(asked)]
    every = (OTHER, *DIAGNOSTICS)
    words = re.findall(r"\w+", asked.lower())
    matching = [item for item in every if words and set(words) <= item.words]
    if not matching:
        raise ValueError(f"no finding is about {asked!r}: give a number or a word of its message")
    return matching


def documentation() -> str:
    """The text of ``docs/diagnostics.md``."""
    lines = [
        "# Diagnostics",
        "",
        "What `cass translate`, `cass project` and the check of changes (`docs/ci.md`) report has",
        "a number. Numbers stay: 1xxx are of sources (from 1018 on: defects of the program",
        "itself), 2xxx of the build, 3xxx of the tests. The page is made of",
        "`cass_ray/translate/diagnostics.py`.",
    ]
    for item in (OTHER, *DIAGNOSTICS):
        lines += ["", f"## {item.code}", "", f"**{item.title}.** {item.why}", "", item.how]
    return "\n".join(lines) + "\n"
