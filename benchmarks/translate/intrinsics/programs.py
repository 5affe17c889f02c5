"""Programs that call device functions, one kernel a function, and write what they give as bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.translate.intrinsics.declarations import Declaration
from benchmarks.translate.intrinsics.kinds import ORDER, ROWS, SLOT, TYPES, Kind, packed

_NOT_OF_ARGUMENTS = re.compile(
    r"atomic|sync|shfl|ballot|__any\Z|__all\Z|__match|__reduce|__activemask|vote|clock|nanosleep"
    r"|__prof|__trap|__brkpt|__is(?:Global|Shared|Constant|Local|Grid)|__cvta|__pm|fence"
    r"|__(?:ld|st)[a-z]+\Z"
)
_INTERNAL = re.compile(
    r"__internal|_internal\Z|__float_simpl|__cuda_|__nv_(?!cvt|fp8|bfloat)"
    r"|__(?:isnan|isinf|isfinite|finite|signbit)[dfl]?\Z"
)
_OF_AN_ORDER = re.compile(r"[jy]nf?\Z")

_HEAD = f"""\
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

struct Slot {{
  unsigned long long words[{SLOT // 8}];
}};
__device__ unsigned row() {{ return blockIdx.x * blockDim.x + threadIdx.x; }}
template <typename T> __device__ T take(const Slot* in, int count, int which) {{
  T value;
  Slot slot = in[row() * count + which];
  memcpy((void*)&value, &slot, sizeof value);
  return value;
}}
template <typename T> __device__ void put(Slot* out, int count, int which, const T& value) {{
  Slot slot = {{}};
  memcpy(&slot, (const void*)&value, sizeof value);
  out[row() * count + which] = slot;
}}
"""
_TAIL = f"""\
}};

int main(int count, char** numbers) {{
  for (int i = 1; i < count; ++i) {{
    const Test& test = tests[atoi(numbers[i])];
    static Slot memory[{ROWS} * 8];
    FILE* file = fopen(test.inputs, "rb");
    if (!file || fread(memory, sizeof(Slot) * test.arguments, {ROWS}, file) != {ROWS}) return 2;
    fclose(file);
    Slot *in, *out;
    cudaMalloc(&in, sizeof memory);
    cudaMalloc(&out, sizeof memory);
    cudaMemcpy(in, memory, sizeof memory, cudaMemcpyHostToDevice);
    test.kernel<<<{ROWS} / 128, 128>>>(in, out);
    cudaMemcpy(memory, out, sizeof memory, cudaMemcpyDeviceToHost);
    if (cudaGetLastError()) return 3;
    cudaFree(in);
    cudaFree(out);
    fwrite(memory, sizeof(Slot) * test.results, {ROWS}, stdout);
  }}
}}
"""


def reason_to_skip(function: Declaration) -> str:
    """Why ``function`` is not called here; empty where it is."""
    if _INTERNAL.search(function.name):
        return "internal to the headers"
    if _NOT_OF_ARGUMENTS.search(function.name) or any(
        each.kind == "memory" for each in function.parameters
    ):
        return "of memory, time or other threads"
    if function.owner and any(each.type == function.owner for each in function.parameters):
        return "copies"
    unread = [each.type for each in function.parameters if each.type not in TYPES]
    if unread or not results_of(function):
        return f"takes {unread[0]}" if unread else f"gives {function.result or 'nothing'}"
    if not arguments_of(function):
        return "has no argument"
    return ""


def arguments_of(function: Declaration) -> tuple[str, ...]:
    """Types of what is passed in; of a member first its object."""
    own = (function.owner,) if function.owner and function.name != function.owner else ()
    if function.name.startswith(("operator++", "operator--")):
        return (*own, *(each.type for each in function.parameters[:1] if not own))
    return (*own, *(each.type for each in function.parameters if each.kind != "output"))


def results_of(function: Declaration) -> tuple[str, ...]:
    """Types of what comes back: the result, then what is written through pointers."""
    written = [each for each in function.parameters if each.kind in {"output", "reference"}]
    changed = tuple(each.type for each in written)
    if function.owner:
        result = function.result.rstrip(" &") if function.name == "operator" else function.owner
        return (result,) if result in TYPES else ()
    result = function.result.rstrip(" &")
    if result == "void":
        return changed
    return (result, *changed) if result in TYPES else ()


def asked_of(function: Declaration) -> tuple[tuple[Kind, ...], ...]:
    """What the arguments consist of."""
    kinds = kinds_of(arguments_of(function))
    return ((ORDER,), *kinds[1:]) if _OF_AN_ORDER.match(function.name) else kinds


def kinds_of(types: Iterable[str]) -> tuple[tuple[Kind, ...], ...]:
    return tuple(TYPES[each] for each in types)


@dataclass(frozen=True)
class Program:
    """CUDA source with a kernel for each of ``functions``, by their numbers."""

    source: str
    functions: tuple[Declaration, ...]
    inputs: dict[str, bytes]
    """Files that the program reads."""


def program(functions: tuple[Declaration, ...]) -> Program:
    """A program that runs the functions whose numbers it is given."""
    inputs: dict[str, bytes] = {}
    names: dict[tuple[tuple[Kind, ...], ...], str] = {}
    kernels, tests = [], []
    for number, function in enumerate(functions):
        kinds = asked_of(function)
        name = names.setdefault(kinds, f"{len(names)}.bin")
        inputs.setdefault(name, packed(kinds))
        kernels.append(kernel(number, function))
        counts = f"{len(kinds)}, {len(results_of(function))}"
        tests.append(f'  {{k{number}, "{name}", {counts}}},')
    table = "struct Test {\n  void (*kernel)(const Slot*, Slot*);\n  const char* inputs;\n"
    table += "  int arguments, results;\n} tests[] = {\n"
    source = _HEAD + "\n".join(kernels) + "\n" + table + "\n".join(tests) + "\n" + _TAIL
    return Program(source, functions, inputs)


def kernel(number: int, function: Declaration) -> str:
    """The kernel ``k<number>`` in one line, by which messages of compilers tell it."""
    arguments, results = arguments_of(function), results_of(function)
    lines = [
        f"{type_} a{place} = take<{type_}>(in, {len(arguments)}, {place});"
        for place, type_ in enumerate(arguments)
    ]
    outputs = [each.type for each in function.parameters if each.kind == "output"]
    lines += [f"{type_} o{place}{{}};" for place, type_ in enumerate(outputs)]
    changed = [f"o{place}" for place in range(len(outputs))]
    changed += [
        f"a{place}" for place, each in enumerate(function.parameters) if each.kind == "reference"
    ]
    call = _call(function)
    if len(results) > len(changed):
        lines.append(f"{results[0]} r = {call};")
        changed = ["r", *changed]
    else:
        lines.append(f"{call};")
    lines += [f"put(out, {len(results)}, {place}, {name});" for place, name in enumerate(changed)]
    return f"__global__ void k{number}(const Slot* in, Slot* out) {{ {' '.join(lines)} }}"


def _call(function: Declaration) -> str:
    """The expression that calls ``function`` with ``a0``, ``a1``, … and ``&o0``, …"""
    if function.owner:
        if function.name == function.owner:
            names = ", ".join(f"a{place}" for place in range(len(function.parameters)))
            return f"{function.owner}({names})"
        if function.name == "operator":
            return f"static_cast<{function.result}>(a0)"
        sign = function.name.removeprefix("operator").strip()
        return _operation(sign, len(function.parameters) + 1)
    if function.name.startswith("operator"):
        return _operation(function.name.removeprefix("operator").strip(), len(function.parameters))
    inputs, outputs, words = 0, 0, []
    for each in function.parameters:
        if each.kind == "output":
            words.append(f"&o{outputs}")
            outputs += 1
        else:
            words.append(f"a{inputs}")
            inputs += 1
    return f"{function.name}({', '.join(words)})"


def _operation(sign: str, operands: int) -> str:
    if sign in {"++", "--"}:
        return f"(a0{sign})" if operands == 2 else f"({sign}a0)"
    return f"({sign}a0)" if operands == 1 else f"(a0 {sign} a1)"


def without(source: str, numbers: Iterable[int]) -> str:
    """``source``, CUDA or translated, whose kernels of these numbers do nothing."""
    for number in numbers:
        source = re.sub(
            rf"(void k{number}\(const Slot\* in, Slot\* out\) \{{).*(?= \}}$)",
            r"\1",
            source,
            flags=re.MULTILINE,
        )
    return source


def number_at(source: str, line: int) -> int | None:
    """The kernel that stands in ``line`` of ``source``, counted from 1."""
    lines = source.splitlines()
    match = re.search(r"\bvoid k(\d+)\(const Slot", lines[line - 1]) if line <= len(lines) else None
    return int(match[1]) if match else None
