"""Flags of nvcc and what hipcc has in their place."""

from __future__ import annotations

import re

from cass_ray.translate.project.make_expressions import REFERENCE

_REFERENCE = REFERENCE[1:-1]
_VALUE = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"')>;]+)"
"""The value of an option, quoted for the shell or not."""
FLAGS = (
    # nvcc's flag, with its argument -> hipcc's; the longest spelling first.
    (
        r"-{1,2}(?:gencode|generate-code)(?:=|\s+|;|[\"']\s*,\s*[\"'])"
        r"(?:=\\?\"[^\"\\\s]*\\?\"|[^\s\"')>;])+",
        "",
    ),
    (rf"-{{1,2}}(?:arch|gpu-architecture|gpu-code|code)=[{_REFERENCE}][^\s\"')>;]*", ""),
    (rf"-{{1,2}}(?:gpu-architecture|gpu-code)\s+[{_REFERENCE}][^\s\"')>;]*", ""),
    (
        r"-{1,2}(?:arch|gpu-architecture)[= ](?:sm|compute)_?"
        r"\$(?:\((?:[^(){}]|\([^()]*\)|\{[^{}]*\})*\)|\{[^{}]*\}|[A-Za-z_]\w*)",
        "",
    ),
    # Clang has an -arch too, of a Mac's processor, but without an equals sign.
    (
        r"-{1,2}(?:arch|gpu-architecture|gpu-code|code)=\$(?:\([\w.-]+\)|\{[\w.-]+\}|[A-Za-z_]\w*)"
        r"(?![\w.$-])",
        "",
    ),
    (
        r"-{1,2}(?:arch|gpu-architecture|gpu-code|code)(?:=|\s+|;)(?:sm|compute|lto|native|all)[\w%-]*"
        r"(?:,(?:sm|compute|lto)_[\w%]+)*",
        "",
    ),
    (r"-{1,2}(?:fatbin|cubin)(?=[\s\"']|$)", "--genco"),
    (r"-t(?:=|\s+|;)\d+(?![\w.])", ""),
    (r"-{1,2}expt-relaxed-constexpr", ""),
    (
        r"-{1,2}(?:resource-usage|res-usage|source-in-ptx|src-in-ptx|allow-unsupported-compiler"
        r"|forward-unknown-(?:opts|to-host-(?:compiler|linker))|display-error-number"
        r"|extra-device-vectorization|restrict|no-compress|gen-opt-lto|brief-diagnostics|brief-diag"
        r"|fast-compile|no-device-link|nodlink|keep|no-align-double|device-stack-protector"
        r"|relocatable-ptx|no-host-device-initializer-list|no-host-device-move-forward"
        r"|expt-optimizer-hints)(?![\w=-])",
        "",
    ),
    (
        r"-{1,2}(?:keep-dir|ofast-compile|Ofast-compile|dopt|jump-table-density|optimization-info"
        r"|opt-info|static-global-template-stub|device-entity-has-hidden-visibility|compress-mode"
        rf"|split-compile-extended|entries|host-linker-script|libdevice-directory)(?:=|\s+|;){_VALUE}",
        "",
    ),
    (r"-{1,2}fmad=true", ""),
    (r"-{1,2}ftz=false", ""),
    (r"-Wno-deprecated-gpu-targets\b", ""),
    (r"-{1,2}(?:expt-)?extended-lambda", ""),
    (r"-{1,2}(?:lineinfo|generate-line-info)\b", "-gline-tables-only"),
    (r"-{1,2}use_fast_math\b", "-ffast-math"),
    (r"-{1,2}(?:rdc|relocatable-device-code)=true", "-fgpu-rdc"),
    (r"-{1,2}(?:rdc|relocatable-device-code)=false", "-fno-gpu-rdc"),
    (r"-{1,2}default-stream[=;\s]\s*legacy\b", ""),
    (r"-{1,2}default-stream[=;\s]\s*per-thread", "-fgpu-default-stream=per-thread"),
    (r"-{1,2}fmad=false", "-ffp-contract=off"),
    (r"-{1,2}ftz=true", "-fgpu-flush-denormals-to-zero"),
    (
        r"-{1,2}(?:maxrregcount|ptxas-options|nvlink-options|diag-suppress|diag-warn|diag-error|threads"
        rf"|split-compile|cudart)(?:=|\s+|;){_VALUE}",
        "",
    ),
    (rf"-X(?:ptxas|fatbin|cudafe|nvlink)(?:=|\s+|;){_VALUE}", ""),
    (
        r"-{1,2}(?:arch|gpu-architecture|gpu-code|code)(?:=|\s+|;)"
        r"(?P<quote>[\"'])(?:sm|compute|lto|native|all)[\w,-]*(?P=quote)",
        "",
    ),
    (r"-{1,2}(?:dc|device-c)(?=\s|$)", "-fgpu-rdc -c"),
    (r"-{1,2}(?:dlink|device-link)(?=\s|$)", "-fgpu-rdc --hip-link -r"),
    (r"-{1,2}(?:dlto|dlink-time-opt)(?=[\s\"']|$)", ""),
    (
        r"-{1,2}Werror[= ](?:all-warnings|cross-execution-space-call|default-stream-launch"
        r"|ext-lambda-captures-this|missing-launch-bounds)\b",
        "",
    ),
    (
        r"-{1,2}(?:ccbin|compiler-bindir)(?:=|\s+|;)"
        rf"(?:\$(?:\([\w.-]+\)|\{{[\w.-]+\}})|[\w./+-]|[{_REFERENCE}])+",
        "",
    ),
    (rf"-Xcompiler(?:=|\s+|;)(?=[-\"'${_REFERENCE}])", ""),
    (rf"-{{1,2}}compiler-options(?:=|\s+|;)(?=[-\"'${_REFERENCE}])", ""),
    (r"-{1,2}(?:prec-div|prec-sqrt)=(?:true|false)", ""),
    (r"-x\s+cu\b", "-x hip"),
    *(
        (f"-{sign}__CUDA_NO_HALF_{part}__", f"-{sign}__HIP_NO_HALF_{part}__")
        for sign in "DU"
        for part in ("OPERATORS", "CONVERSIONS")
    ),
)
FLAG_RULES = tuple((re.compile(rf"(?<![\w-]){pattern}"), new) for pattern, new in FLAGS)
_DEBUG = r"(?<![\w-])(?:-G|--device-debug)(?=[\s\"';)>]|$)"
DEVICE_DEBUG = re.compile(rf"^(?!.*\bcmake\b)(.*){_DEBUG}", re.MULTILINE)
NAMED_ARCHITECTURE = re.compile(
    r"^(.*(?:\bhipcc\b|NVCC).*?)(?<![\w-])-arch\s+\$(?:\(\w+\)|\{\w+\})", re.MULTILINE
)
"""In a line of make for nvcc; a host's compiler may have an ``-arch`` of its own."""
IN_CMAKE = (
    (re.compile(_DEBUG), "-g"),
    (re.compile(r"(?<![\w-])-arch(?:\s+|;)\$\{\w+\}"), ""),
)
"""In flags of the HIP language alone: clang's ``-G`` takes a number, its ``-arch`` is a Mac's."""
STANDARD = (
    # rocPRIM, hipCUB and rocThrust want C++17, as CUB and Thrust of CUDA 13 do.
    (re.compile(r"\b((?:CMAKE_)?HIP_STANDARD\s+)(?:98|03|11|14)\b"), r"\g<1>17"),
    (re.compile(r"\bhip_std_(?:98|03|11|14)\b"), "hip_std_17"),
    (
        re.compile(
            r"^(.*(?:CMAKE_HIP_FLAGS|NVCC|hipcc).*-std(?:=|\s+)(?:c|gnu)\+\+)(?:0x|11|1y|14)\b",
            re.MULTILINE,
        ),
        r"\g<1>17",
    ),
)
"""The C++ of device code, where the project asks for an older one."""

HOST_OPTIONS = re.compile(
    r"-{1,2}(?:Xcompiler|compiler-options)(?:=|\s+)([\"'])(?P<options>[^\"'\n]{0,999})\1"
)
"""Options of the host's compiler, one word of a shell for nvcc."""
HOST_WORD = re.compile(
    r"(?<![\w-])-{1,2}(?:Xcompiler|compiler-options)(?:=|\s+)(?P<options>-[^\s\"']*,[^\s\"']*)"
)
"""Several options of the host's compiler between commas, of which nvcc makes words."""
LEFT = re.compile(
    r"(?<![\w-])(?:-{1,2}(?:gencode|generate-code)[ =]+arch=compute_\w*"
    r"|-{1,2}(?:gencode|generate-code|gpu-architecture|gpu-code|ptxas-options|maxrregcount"
    r"|nvlink-options|compiler-options|relocatable-device-code|rdc|device-c|device-link|dlink|ptx"
    r"|diag-suppress|expt-[\w-]+|output-directory|odir|lib)(?![\w-])"
    r"|-X(?:compiler|ptxas|fatbin|cudafe|nvlink|archive)(?![\w-])"
    r"|-{1,2}(?:arch|code)=(?!gfx|x86|arm|i\d86|native)[^\s\"')]+|-arch\s+(?:sm|compute)_?"
    r"|arch=compute_\w*)"
)
"""What only nvcc understands."""
