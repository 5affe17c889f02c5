"""Lines around kernels as programmers write them: macros, typed arithmetic, a host part."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

_HEADERS = (
    *("<cstdio>", "<cstdlib>", "<vector>", "<cuda_runtime.h>", "<cstdint>", "<cuda_fp16.h>"),
    *("<cooperative_groups.h>", "<stdio.h>", "<cmath>", "<algorithm>", "<cuda.h>"),
)
_CHECKS = (
    "cudaError_t {e} = ({c}); if ({e} != cudaSuccess) {{ fprintf(stderr, {f}, {a}); {x}; }}",
    "const cudaError_t {e} = {c}; if ({e} != cudaSuccess) {{ printf({f}, {a}); {x}; }}",
    "cudaError_t {e} = {c}; if (cudaSuccess != {e}) {{ fprintf(stderr, {f}, {a}); {x}; }}",
)
_FORMATS = (
    (r'"%s:%d: %s\n"', "__FILE__, __LINE__, cudaGetErrorString({e})"),
    (r'"CUDA error %d at line %d: %s\n"', "(int){e}, __LINE__, cudaGetErrorString({e})"),
    (r'"error: %s\n"', "cudaGetErrorString({e})"),
    (r'"CUDA call failed: %s (%s:%d)\n"', "cudaGetErrorName({e}), __FILE__, __LINE__"),
    (r'"failure %d in %s\n"', "static_cast<int>({e}), #{p}"),
)
_NAMES = ("CHECK", "CUDA_CHECK", "CUDA_CALL", "checkCuda", "TRY", "GPU_OK", "CK", "CUDA_TRY",
          "cudaCheck", "ASSERT_CUDA", "HANDLE_ERROR", "MUST", "SAFE_CALL")  # fmt: skip
_ENDS = ("exit(1)", "exit(EXIT_FAILURE)", "abort()", "std::exit(2)", "exit(3)", "return 1")


def head(rng: random.Random) -> list[str]:
    """A comment perhaps, and includes."""
    lines = []
    if rng.random() < 0.3:
        lines.append(rng.choice(("// Inline PTX.", "// Helpers.", "/* device code */", "")))
    chosen = [header for header in _HEADERS[:5] if rng.random() < 0.6]
    chosen += [header for header in _HEADERS[5:] if rng.random() < 0.15]
    if not {"<cstdio>", "<stdio.h>"} & set(chosen):
        chosen.append("<cstdio>")
    if "<cstdint>" not in chosen:
        chosen.append("<cstdint>")
    if "<cstdlib>" not in chosen:
        chosen.append("<cstdlib>")
    rng.shuffle(chosen)
    return [*lines, *(f"#include {header}" for header in chosen)]


def check_macro(rng: random.Random) -> tuple[str, list[str]]:
    """A macro that checks a call: its name and its lines, mostly several."""
    name, parameter = rng.choice(_NAMES), rng.choice(("call", "x", "expr", "e", "stmt"))
    error = rng.choice(("err", "status", "error_", "rc", "result", "err_"))
    form, arguments = rng.choice(_FORMATS)
    end = rng.choice(_ENDS[:-1])
    text = rng.choice(_CHECKS).format(
        e=error, c=parameter, f=form, a=arguments.format(e=error, p=parameter), x=end
    )
    opening = rng.choice(("do {", "{", "do {", "do {"))
    closing = "} while (0)" if opening.startswith("do") else "}"
    parts = [opening, *_broken(rng, text), closing]
    if rng.random() < 0.15:
        return name, [f"#define {name}({parameter}) {' '.join(parts)}"]
    indent = rng.choice(("    ", "  ", "\t", "        "))
    pad = rng.choice((1, 1, 1, 79, 88))
    lines = [f"#define {name}({parameter})", *(indent + part for part in parts)]
    if rng.random() < 0.4:
        lines[:2] = [f"{lines[0]} {parts[0]}"]
    if rng.random() < 0.4:
        lines[-2:] = [f"{lines[-2]} {closing}"]
    return name, [*((line + " ").ljust(pad) + "\\" for line in lines[:-1]), lines[-1]]


def _broken(rng: random.Random, text: str) -> list[str]:
    """``text`` on one line or several."""
    if rng.random() < 0.25:
        return [text]
    first, _, rest = text.partition("; ")
    condition, _, inside = rest.partition(" { ")
    body = [part for part in inside.removesuffix(" }").split("; ") if part]
    if rng.random() < 0.4:
        return [f"{first};", f"{condition} {{ {inside}"]
    return [
        f"{first};",
        f"{condition} {{",
        *(f"    {part.removesuffix(';')};" for part in body),
        "}",
    ]


class TypedLines:
    """Declarations and arithmetic whose translation depends on types.

    ``min`` and ``max`` of two types are compared in their common one, and CUDA's ``__popc`` and
    ``__ffs`` give an ``int``: the rules write both out.
    """

    _NARROW = ("int", "unsigned", "unsigned", "int", "uint32_t", "short", "unsigned char")
    _WIDE = ("long long", "unsigned long long")

    def __init__(self, rng: random.Random, fresh: Callable[[], str]) -> None:
        self._rng, self._fresh = rng, fresh
        self._wide = rng.random() < 0.25
        """CUDA has no overload for a number of 64 bits beside one of 32."""
        self._known: list[str] = []

    def _operand(self) -> str:
        rng = self._rng
        name = rng.choice(self._known)
        if self._wide:
            return rng.choice(
                (name, name, f"(long long){name}", f"{name} + 1", f"{rng.randrange(99)}ll")
            )
        return rng.choice(
            (name, name, name, f"{name} + 1", f"({name} & 31)", f"{name} * 2", "threadIdx.x",
             str(rng.choice((0, 1, 31, 255, 1024))), f"{rng.randrange(99)}u",
             f"(int){name}", f"__popc({name})")
        )  # fmt: skip

    def _expression(self) -> str:
        rng, a, b = self._rng, self._operand(), self._operand()
        if self._wide:
            return rng.choice(
                (f"min({a}, {b})", f"max({a}, {b})", f"__popcll({a})", f"__ffsll({a}) - 1",
                 f"__umul64hi({a}, {b})", f"(__popcll({a}) & 1) ? {b} : 0", f"__clzll({a})")
            )  # fmt: skip
        return rng.choice(
            (f"min({a}, {b})", f"max({a}, {b})", f"min({a}, {b})", f"max({a}, {b}) + 1",
             f"min(max({a}, 0), {b})", f"__popc((unsigned)({a})) + {b}", f"__ffs({a}) - 1",
             f"__umulhi({a}, {b})", f"__mulhi({a}, {b})", f"(__popc({a}) & 1) ? {b} : 0",
             f"(unsigned long long)__umulhi({a}, {b}) << 32", f"__clz({a}) + __ffs({b})",
             f"min({a}, __shfl_xor_sync(0xffffffffu, (int){rng.choice(self._known)}, 1))",
             f"__funnelshift_l({a}, {b}, 7)", f"__byte_perm({a}, {b}, 0x3210)",
             f"__dp4a((int)({a}), (int)({b}), 0)", f"__brev({a}) >> 27")
        )  # fmt: skip

    def lines(self, target: str) -> list[str]:
        """A few lines; the last changes ``target``, an unsigned."""
        rng = self._rng
        made = []
        for _ in range(rng.randrange(1, 4)):
            type_, name = rng.choice(self._WIDE if self._wide else self._NARROW), self._fresh()
            start = f"({type_}){target}" if not self._known else self._expression()
            made.append(f"{rng.choice(('', '', 'const '))}{type_} {name} = {start};")
            self._known.append(name)
        made.append(
            rng.choice(
                (f"{target} += {self._expression()};", f"{target} = {self._expression()};",
                 f"if (({self._expression()}) > 3 && __popc({target}) % 2 == 0) {target} ^= 1u;",
                 f"if ((int)__ffs({target}) - 1 == (int)(threadIdx.x % 32)) {target} += 1u;")
            )
        )  # fmt: skip
        return made


_GRAPH = (
    "cudaGraph_t {g};",
    "cudaGraphExec_t {x};",
    "{o}cudaStreamBeginCapture({s}, cudaStreamCaptureMode{mode}){c};",
    "{k}<<<{blocks}, 128, 0, {s}>>>({w}, {r}, n);",
    "{o}cudaStreamEndCapture({s}, &{g}){c};",
    "{o}cudaGraphInstantiate(&{x}, {g}{flags}){c};",
    "{o}cudaGraphLaunch({x}, {s}){c};",
    "{o}cudaStreamSynchronize({s}){c};",
    "{o}cudaGraphExecDestroy({x}){c};",
    "{o}cudaGraphDestroy({g}){c};",
)
_EVENTS = (
    "cudaEvent_t {g}, {x};",
    "{o}cudaEventCreate(&{g}){c};",
    "{o}cudaEventCreateWithFlags(&{x}, cudaEventDisableTiming){c};",
    "{o}cudaEventRecord({g}, {s}){c};",
    "{k}<<<{blocks}, 128, 0, {s}>>>({w}, {r}, n);",
    "{o}cudaEventRecord({x}, {s}){c};",
    "{o}cudaStreamWaitEvent({s}, {x}, 0){c};",
    "{o}cudaEventSynchronize({x}){c};",
)
_LAUNCH = (
    "void* {g}[] = {{&{w}, &{r}, (void*)&n}};",
    "{o}cudaLaunchKernel((const void*){k}, dim3({blocks}), dim3(128), {g}{launch}){c};",
    "{o}cudaFuncSetAttribute({k}, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536){c};",
    "int {x} = 0;",
    "{o}cudaOccupancyMaxActiveBlocksPerMultiprocessor(&{x}, {k}, 128, 0){c};",
)
_COOPERATIVE = (
    "void* {g}[] = {{&{w}, &{r}, (void*)&n}};",
    "{o}cudaLaunchCooperativeKernel((void*){k}, {blocks}, 128, {g}){c};",
)
_POOL = (
    "cudaMemPool_t {g};",
    "{o}cudaDeviceGetDefaultMemPool(&{g}, 0){c};",
    "unsigned* {x} = nullptr;",
    "{o}cudaMallocAsync(&{x}, 64 * sizeof(unsigned), {s}){c};",
    "{o}cudaMemsetAsync({x}, 0, 64 * sizeof(unsigned), {s}){c};",
    "{o}cudaFreeAsync({x}, {s}){c};",
)
_CALLBACK = "{o}cudaLaunchHostFunc({s}, {h}, (void*)&n){c};"
_STREAM_CALLBACK = "{o}cudaStreamAddCallback({s}, {h}, nullptr, 0){c};"


def host_part(rng: random.Random, fresh: Callable[[], str], kernel: str, check: str) -> list[str]:
    """Tables and functions of the host, and ``main``, which launches ``kernel(words, reals, n)``.

    ``check`` is the macro around calls, or empty.
    """
    opened, closed = (f"{check}(", ")") if check else ("", "")
    fields = {
        **{key: fresh() for key in "gxswrh"},
        "k": kernel,
        "o": opened,
        "c": closed,
        "blocks": rng.choice(("(n + 127) / 128", "8", "dim3((n + 127) / 128)")),
        "mode": rng.choice(("Global", "ThreadLocal", "Relaxed")),
        "flags": rng.choice((", 0", ", 0", ", nullptr, nullptr, 0", "", ", NULL, NULL, 0")),
        "launch": rng.choice(("", ", 0", ", 0, {s}", ", 0, 0")),
    }
    fields["launch"] = fields["launch"].format(**fields)
    table_before, table_copy = _table(rng, fresh, fields)
    callback_before, callback_call = _callback(rng, fields)
    launched = f"{kernel}<<<{fields['blocks']}, 128>>>({fields['w']}, {fields['r']}, n);"
    shapes: Sequence[tuple[Sequence[str], float]] = (
        (_GRAPH, 0.3), (_EVENTS, 0.2), (_LAUNCH, 0.2), (_COOPERATIVE, 0.1), (_POOL, 0.1),
    )  # fmt: skip
    body = [line.format(**fields) for lines, share in shapes if rng.random() < share
            for line in _scoped(lines)]  # fmt: skip
    middle = [*table_copy, *callback_call]
    stream = any(fields["s"] in line for line in [*body, *middle])
    lines = [*_allocation(rng, fields, stream), *middle, *body, launched]
    lines += _ending(rng, fields, fresh(), stream)
    indent = rng.choice(("    ", "    ", "  ", "\t"))
    main = ["", "int main() {", *(indent + line for line in lines), "}"]
    return [*table_before, *callback_before, *main]


def _table(
    rng: random.Random, fresh: Callable[[], str], fields: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Constant memory and what fills it, or nothing."""
    if rng.random() >= 0.3:
        return [], []
    table, values = fresh(), fresh()
    copy = f"cudaMemcpyToSymbol({table}, {values}, sizeof({values}))"
    return (
        ["", f"__constant__ unsigned {table}[16];"],
        [f"unsigned {values}[16] = {{1, 2, 3}};", f"{fields['o']}{copy}{fields['c']};"],
    )


def _callback(rng: random.Random, fields: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """A function of the host and the call that hands it to a stream, or nothing."""
    if rng.random() >= 0.35:
        return [], []
    plain = rng.random() < 0.6
    word = rng.choice(("CUDART_CB ", "CUDART_CB ", ""))
    static = rng.choice(("static ", "static ", ""))
    given = "void* data" if plain else "cudaStream_t stream, cudaError_t status, void* data"
    head = f"{static}void {word}{fields['h']}({given})"
    opening = [f"{head} {{"] if rng.random() < 0.5 else [head, "{"]
    call = (_CALLBACK if plain else _STREAM_CALLBACK).format(**fields)
    return ["", *opening, '    printf("done\\n");', "}"], [call]


def _allocation(rng: random.Random, fields: Mapping[str, str], stream: bool) -> list[str]:
    """Memory of the device and, where it is needed, a stream."""
    opened, closed = fields["o"], fields["c"]
    lines = [
        "const int n = 256;",
        f"unsigned* {fields['w']} = nullptr;",
        f"float* {fields['r']} = nullptr;",
        f"{opened}cudaMalloc(&{fields['w']}, n * sizeof(unsigned)){closed};",
        f"{opened}cudaMalloc((void**)&{fields['r']}, n * sizeof(float)){closed};",
        f"{opened}cudaMemset({fields['w']}, 0, n * sizeof(unsigned)){closed};",
    ]
    if stream:
        lines += [
            f"cudaStream_t {fields['s']};",
            rng.choice(("{o}cudaStreamCreate(&{s}){c};",
                           "{o}cudaStreamCreateWithFlags(&{s}, cudaStreamNonBlocking){c};",
                           "{o}cudaStreamCreateWithPriority(&{s}, cudaStreamDefault, 0){c};"))
            .format(**fields),
        ]  # fmt: skip
    return lines


def _ending(rng: random.Random, fields: Mapping[str, str], host: str, stream: bool) -> list[str]:
    """Waiting for the kernel, its result copied to ``host`` and printed, and all of it freed."""
    opened, closed = fields["o"], fields["c"]
    return [
        rng.choice((f"{opened}cudaGetLastError(){closed};",
                       f"{opened}cudaPeekAtLastError(){closed};")),
        f"{opened}cudaDeviceSynchronize(){closed};",
        f"unsigned {host}[256];",
        f"{opened}cudaMemcpy({host}, {fields['w']}, sizeof({host}), "
        f"cudaMemcpyDeviceToHost){closed};",
        f'printf("%u\\n", {host}[0]);',
        *([f"{opened}cudaStreamDestroy({fields['s']}){closed};"] if stream else []),
        f"{opened}cudaFree({fields['w']}){closed};",
        f"{opened}cudaFree({fields['r']}){closed};",
        "return 0;",
    ]  # fmt: skip


def _scoped(lines: Sequence[str]) -> list[str]:
    """In braces of their own: shapes share names."""
    return ["{{", *(f"    {line}" for line in lines), "}}"]
