"""The host side of a generated program: text in one of several styles, and the expected output."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cass_ray.corpus.generate import memory
from cass_ray.corpus.generate.kernels import GeneratedKernel
from cass_ray.corpus.generate.memory import FORMATS, Array
from cass_ray.corpus.generate.types import DOUBLE, HALF, ScalarKind, Values

_CHECKS = {
    path.stem: path.read_text(encoding="utf-8").splitlines()
    for path in (Path(__file__).parent / "checks").glob("*.inc")
}
"""Ways to write the check of CUDA's results."""


@dataclass(frozen=True)
class _Checksum:
    lines: tuple[str, ...]
    function: Callable[[Values], int]


def _checksum(rng: random.Random) -> _Checksum:
    kind = rng.choice(("polynomial", "fowler", "weighted"))
    if kind == "polynomial":
        base, start = rng.choice((31, 33, 131, 1099511628211)), rng.choice((0, 7, 17))
        step = (f"h = h * {base}ull + word_of(data[k]);",)
        return _Checksum(
            (f"unsigned long long h = {start}ull;", *step),
            lambda words: memory.polynomial(words, base, start),
        )
    if kind == "fowler":
        return _Checksum(
            (
                "unsigned long long h = 0xcbf29ce484222325ull;",
                "h = (h ^ word_of(data[k])) * 0x100000001b3ull;",
            ),
            memory.fowler,
        )
    return _Checksum(
        ("unsigned long long h = 0ull;", "h += word_of(data[k]) * (2ull * k + 1ull);"),
        memory.weighted,
    )


class HostWriter:
    """Writes ``main`` and what it needs, and knows what it will print."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.check = rng.choice(sorted(_CHECKS))
        self.managed = rng.random() < 0.25
        self.copies_symbols = rng.random() < 0.4
        self.prefix = rng.choice(("d_", "dev_", "gpu_", "device_"))
        self.checksum = _checksum(rng)
        self.samples = rng.randint(1, 4)
        self.label = rng.choice(("%s:", "%s", "[%s]"))

    def preamble(self, uses_half: bool) -> list[str]:
        headers = ["<cstdio>", "<cstdlib>", "<cstring>", "<vector>", "<cuda_runtime.h>"]
        if uses_half:
            headers.append("<cuda_fp16.h>")
        return [*(f"#include {header}" for header in headers), "", *_CHECKS[self.check], ""]

    def report_functions(self, arrays: list[Array]) -> list[str]:
        """``word_of`` for the types that are printed, and ``report``."""
        out: list[str] = []
        for type_ in dict.fromkeys(array.place.type for array in arrays if array.printed):
            out.append(f"static unsigned long long word_of({type_.name} value) {{")
            if type_.kind is ScalarKind.FLOAT:
                kind = "double" if type_ is DOUBLE else "float"
                word = "unsigned long long" if type_ is DOUBLE else "unsigned int"
                source = "__half2float(value)" if type_ is HALF else "value"
                # Adding 0 makes -0 a 0.
                out += [f"    {kind} plain = {source} + 0.0{'' if type_ is DOUBLE else 'f'};"]
                out += [f"    {word} bits;", "    memcpy(&bits, &plain, sizeof bits);"]
                out += ["    return bits;", "}"]
            else:
                out += ["    return (unsigned long long)value;", "}"]
        first, step = self.checksum.lines
        return [
            *out,
            "",
            "template <typename T>",
            "static void report(const char* name, const T* data, int count) {",
            f"    {first}",
            "    for (int k = 0; k < count; ++k) {",
            f"        {step}",
            "    }",
            f'    printf("{self.label} %016llx", name, h);',
            "}",
            "",
        ]

    def constant_lines(self, array: Array) -> list[str]:
        """The definition of an array in constant memory, with its values or to be copied to."""
        place = array.place
        declared = f"__constant__ {place.type.name} {place.name}[{place.size}]"
        if self.copies_symbols:
            return [f"{declared};"]
        if place.type.kind is ScalarKind.FLOAT:
            values = [f"{float(value)!r}{place.type.suffix}" for value in array.initial()]
        else:
            values = [f"{int(value)}{place.type.suffix}" for value in array.initial()]
        return [f"{declared} = {{{', '.join(values)}}};"]

    def _symbol_copies(self, constants: list[Array]) -> list[str]:
        out: list[str] = []
        for array in constants if self.copies_symbols else []:
            place = array.place
            host = f"host_{place.name}"
            out += [f"{place.type.name} {host}[{place.size}];"]
            out += [f"for (unsigned int i = 0; i < {place.size}u; ++i) {{"]
            out += [f"    {host}[i] = {self._first_value(array)};", "}"]
            out += [f"CHECK(cudaMemcpyToSymbol({place.name}, {host}, sizeof {host}));"]
        return out

    def main(
        self,
        arrays: list[Array],
        constants: list[Array],
        launches: list[tuple[GeneratedKernel, int, dict[str, str]]],
    ) -> list[str]:
        """``main``: allocate, fill, launch in order, print; ``arrays`` are in global memory."""
        body: list[str] = self._symbol_copies(constants)
        for array in arrays:
            body += self._allocate(array)
        for number, launch in enumerate(launches):
            body += self._launch(number, *launch)
        body.append("CHECK(cudaDeviceSynchronize());")
        for array in arrays:
            if array.printed:
                body += self._print(array)
        body += [f"CHECK(cudaFree({self._device(array)}));" for array in arrays]
        return ["int main() {", *(f"    {line}" for line in body), "    return 0;", "}"]

    def _device(self, array: Array) -> str:
        return array.place.name if self.managed else f"{self.prefix}{array.place.name}"

    def _allocate(self, array: Array) -> list[str]:
        place, name = array.place, array.place.name
        kind, device = place.type.name, self._device(array)
        size = f"{place.size} * sizeof({kind})"
        fill = [f"for (unsigned int i = 0; i < {place.size}u; ++i) {{",
                f"    {name}[i] = {self._first_value(array)};", "}"]  # fmt: skip
        if self.managed:
            return [f"{kind}* {name} = nullptr;", f"CHECK(cudaMallocManaged(&{name}, {size}));",
                    *fill]  # fmt: skip
        return [
            f"std::vector<{kind}> {name}({place.size});",
            *fill,
            f"{kind}* {device} = nullptr;",
            f"CHECK(cudaMalloc(&{device}, {size}));",
            f"CHECK(cudaMemcpy({device}, {name}.data(), {size}, cudaMemcpyHostToDevice));",
        ]

    @staticmethod
    def _first_value(array: Array) -> str:
        type_ = array.place.type
        if array.fill is not None:
            return array.fill.expression(type_)
        if type_ is HALF:
            return f"__float2half({array.start}.0f)"
        if type_.kind is ScalarKind.FLOAT:
            return f"{array.start}.0{type_.suffix}"
        return f"{array.start}{type_.suffix}"

    def _launch(
        self, number: int, kernel: GeneratedKernel, value: int, passed: dict[str, str]
    ) -> list[str]:
        shape = kernel.shape
        names = {True: "", False: self.prefix}[self.managed]
        places = [*kernel.inputs, *kernel.outputs, *kernel.counters]
        arguments = [f"{names}{passed[place.name]}" for place in places]
        arguments += [f"{scalar.value}{scalar.type.suffix}" for scalar in kernel.scalars]
        out: list[str] = []
        if shape.grid[1] > 1 or shape.block[1] > 1:
            grid, block = f"grid{number}", f"block{number}"
            out += [f"dim3 {block}({shape.block[0]}, {shape.block[1]});"]
            out += [f"dim3 {grid}({shape.grid[0]}, {shape.grid[1]});"]
        else:
            grid, block = str(shape.grid[0]), str(shape.block[0])
        dynamic = f", {kernel.dynamic_bytes}" if kernel.dynamic_bytes else ""
        template = f"<{value}>" if kernel.template else ""
        call = f"{kernel.name}{template}<<<{grid}, {block}{dynamic}>>>({', '.join(arguments)});"
        return [*out, call, "CHECK(cudaGetLastError());"]

    def _print(self, array: Array) -> list[str]:
        place, name = array.place, array.place.name
        out: list[str] = []
        pointer = name
        if not self.managed:
            size = f"{place.size} * sizeof({place.type.name})"
            pointer = f"{name}.data()"
            out.append(
                f"CHECK(cudaMemcpy({pointer}, {self._device(array)}, {size}, "
                "cudaMemcpyDeviceToHost));"
            )
        out.append(f'report("{name}", {pointer}, {place.size});')
        for position in self._positions(place.size):
            element = f"{name}[{position}]"
            if place.type is HALF:
                element = f"__half2float({element})"
            if place.type.kind is ScalarKind.FLOAT:
                element = f"{element} + 0.0{'' if place.type is DOUBLE else 'f'}"
            out.append(f'printf(" {FORMATS[place.type.dtype]}", {element});')
        return [*out, 'printf("\\n");']

    def _positions(self, size: int) -> list[int]:
        return sorted({size * part // self.samples for part in range(self.samples)})

    def expected(self, arrays: list[Array], contents: dict[str, Values]) -> str:
        """What ``main`` prints, given what is in the arrays at its end."""
        lines = []
        for array in arrays:
            if not array.printed:
                continue
            name, values = array.place.name, contents[array.place.name]
            line = f"{self.label % name} {self.checksum.function(memory.as_words(values)):016x}"
            for position in self._positions(array.place.size):
                line += f" {memory.shown(values[position], array.place.type)}"
            lines.append(line + "\n")
        return "".join(lines)
