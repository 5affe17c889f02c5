"""Small files that use many names of the API and many instructions of PTX: drills for a model.

They are not programs: nothing declares what they use, and nothing is computed. A file shows how
calls, types, enumerators, device functions and inline assembly are spelled, next to each other and
with names of all kinds around them; the rules give the translation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from cass_ray.corpus.generate.invented import invented_name

_ASSEMBLY: Sequence[tuple[str, str, Sequence[str]]] = (
    ("{op}.{u}32 %0, %1, %2;", "r", ("r", "r")),
    ("{op}.{u}64 %0, %1, %2;", "l", ("l", "l")),
    ("mul.lo.{u}32 %0, %1, %2;", "r", ("r", "r")),
    ("mul.hi.{u}32 %0, %1, %2;", "r", ("r", "r")),
    ("mul.wide.u32 %0, %1, %2;", "l", ("r", "r")),
    ("mad.lo.{u}32 %0, %1, %2, %3;", "r", ("r", "r", "r")),
    ("{fop}.f32 %0, %1, %2;", "f", ("f", "f")),
    ("fma.rn.f32 %0, %1, %2, %3;", "f", ("f", "f", "f")),
    ("fma.rn.f64 %0, %1, %2, %3;", "d", ("d", "d", "d")),
    ("{approx}.approx.f32 %0, %1;", "f", ("f",)),
    ("{bits}.b32 %0, %1;", "r", ("r",)),
    ("{logic}.b32 %0, %1, %2;", "r", ("r", "r")),
    ("shl.b32 %0, %1, %2;", "r", ("r", "r")),
    ("shr.{u}32 %0, %1, %2;", "r", ("r", "r")),
    ("bfe.u32 %0, %1, %2, %3;", "r", ("r", "r", "r")),
    ("bfi.b32 %0, %1, %2, %3, %4;", "r", ("r", "r", "r", "r")),
    ("prmt.b32 %0, %1, %2, %3;", "r", ("r", "r", "r")),
    ("lop3.b32 %0, %1, %2, %3, {lut};", "r", ("r", "r", "r")),
    ("shf.{lr}.wrap.b32 %0, %1, %2, %3;", "r", ("r", "r", "r")),
    ("dp4a.{u}32.{u}32 %0, %1, %2, %3;", "r", ("r", "r", "r")),
    ("sad.{u}32 %0, %1, %2, %3;", "r", ("r", "r", "r")),
    ("mov.u32 %0, %{special};", "r", ()),
    ("activemask.b32 %0;", "r", ()),
    ("mov.b64 %0, {{%1, %2}};", "l", ("r", "r")),
    ("cvt.rn.f32.{u}32 %0, %1;", "f", ("r",)),
    ("cvt.rzi.{u}32.f32 %0, %1;", "r", ("f",)),
    ("ld.global.{u}32 %0, [%1];", "r", ("l",)),
    ("ld.global.nc.f32 %0, [%1];", "f", ("l",)),
    ("ld.global.cg.f32 %0, [%1];", "f", ("l",)),
    ("atom.global.add.u32 %0, [%1], %2;", "r", ("l", "r")),
    ("min.{u}32 %0, %1, %2;", "r", ("r", "r")),
    ("popc.b32 %0, %1;", "r", ("r",)),
    ("{{ .reg .pred p; setp.{cmp}.{u}32 p, %1, %2; selp.{u}32 %0, %3, %4, p; }}", "r",
     ("r", "r", "r", "r")),
    ("{{ .reg .u32 t; add.u32 t, %1, %2; mul.lo.u32 %0, t, %3; }}", "r", ("r", "r", "r")),
    ("add.cc.u32 %0, %1, %2;", "r", ("r", "r")),
    ("shfl.sync.{shfl}.b32 %0, %1, %2, 0x1f, 0xffffffff;", "r", ("r", "r")),
    ("vote.sync.ballot.b32 %0, %1, 0xffffffff;", "r", ("r",)),
)  # fmt: skip
"""Text, constraint of the result, constraints of the operands."""
_WITHOUT_RESULT: Sequence[tuple[str, Sequence[str]]] = (
    ("st.global.u32 [%0], %1;", ("l", "r")),
    ("st.global.cs.f32 [%0], %1;", ("l", "f")),
    ("red.global.add.u32 [%0], %1;", ("l", "r")),
    ("red.global.add.f32 [%0], %1;", ("l", "f")),
    ("membar.{level};", ()),
    ("fence.acq_rel.gpu;", ()),
    ("bar.sync 0;", ()),
    ("bar.warp.sync 0xffffffff;", ()),
    ("prefetch.global.L2 [%0];", ("l",)),
    ("trap;", ()),
    ("nanosleep.u32 %0;", ("r",)),
)
_CHOICES = {
    "op": ("add", "sub", "mul.lo", "min", "max"),
    "u": ("u", "s"),
    "fop": ("add", "sub", "mul", "min", "max", "add.rn", "mul.rn", "add.rz"),
    "approx": ("sin", "cos", "ex2", "lg2", "rsqrt", "rcp", "sqrt", "tanh"),
    "bits": ("not", "popc", "clz", "brev"),
    "logic": ("and", "or", "xor"),
    "lut": ("0x96", "0xe8", "0xca", "0xfe", "0x80"),
    "lr": ("l", "r"),
    "special": ("laneid", "tid.x", "ctaid.x", "ntid.x", "nctaid.y", "warpid", "lanemask_lt",
                "smid", "clock", "tid.y"),
    "cmp": ("eq", "ne", "lt", "le", "gt", "ge"),
    "shfl": ("down", "up", "bfly", "idx"),
    "level": ("gl", "cta", "sys"),
}  # fmt: skip
_WARP = (
    "__shfl_sync({mask}, {a}, {b})",
    "__shfl_down_sync({mask}, {a}, {n})",
    "__shfl_up_sync({mask}, {a}, {n})",
    "__shfl_xor_sync({mask}, {a}, {n})",
    "__ballot_sync({mask}, {a} > {b})",
    "__any_sync({mask}, {a})",
    "__all_sync({mask}, {a} != 0)",
    "__popc(__ballot_sync({mask}, {a}))",
    "__activemask()",
    "__reduce_add_sync({mask}, {a})",
    "__match_any_sync({mask}, {a})",
    "__ffs(__ballot_sync({mask}, {a} == {b}))",
)
_MASKS = ("0xffffffff", "0xFFFFFFFFu", "mask", "FULL_MASK", "~0u", "__activemask()")
_LAUNCHES = (
    "{f}<<<{a}, {b}>>>({c}, {d});",
    "{f}<<<{a}, {b}, {c}>>>({d});",
    "{f}<<<{a}, {b}, 0, {s}>>>({c}, {d});",
    "{f}<<<({a} + {n} - 1) / {n}, {n}>>>({c});",
)
_DECLARATIONS = (
    "__constant__ float {a}[{n}];",
    "__shared__ float {a}[{n}][{n} + 1];",
    "extern __shared__ int {a}[];",
    "__managed__ int {a};",
    "{T} {a};",
    "{T} {a}, {b};",
    "{T}* {a} = nullptr;",
    "std::vector<{T}> {a}({n});",
)


_PLAIN_HEADERS = ("cstdio", "vector", "stdio.h", "stdlib.h", "iostream", "math.h", "assert.h")
_INCLUDES = (
    "#include <{header}>",
    "#include <{header}>",
    '#include "{header}"',
    "#include<{header}>",
    "# include <{header}>",
    "#include <{header}>  // {name}",
    "// #include <{header}>",
)


class _Drill:
    """One file; every name in it comes from ``rng``."""

    def __init__(
        self,
        rng: random.Random,
        functions: Sequence[str],
        types: Sequence[str],
        enumerators: Sequence[str],
        device: Sequence[str],
        sizes: Mapping[str, Sequence[int]],
        headers: Sequence[str],
    ) -> None:
        self._rng, self._headers = rng, headers
        self._functions, self._types = functions, types
        self._enumerators, self._device = enumerators, device
        self._sizes = sizes
        self._names = [invented_name(rng) for _ in range(24)]

    def _name(self) -> str:
        return self._rng.choice(self._names)

    def _fields(self) -> dict[str, str]:
        rng = self._rng
        return {
            **{key: rng.choice(values) for key, values in _CHOICES.items()},
            **{key: self._name() for key in "abcdfs"},
            "n": str(rng.choice((2, 4, 8, 16, 32, 64, 128, 256, 1024))),
            "mask": rng.choice(_MASKS),
            "T": rng.choice(self._types),
        }

    def _argument(self) -> str:
        rng = self._rng
        shapes: Sequence[Callable[[], str]] = (
            self._name,
            lambda: f"&{self._name()}",
            lambda: f"(void**)&{self._name()}",
            lambda: f"{self._name()} * sizeof({rng.choice(('float', 'int', 'double'))})",
            lambda: str(rng.choice((0, 1, 2, 16, 256, 1024))),
            lambda: rng.choice(self._enumerators),
            lambda: "nullptr",
            lambda: f"{self._name()}[{self._name()}]",
            lambda: f"{self._name()}.{self._name()}",
            lambda: f"{self._name()}->{self._name()}",
        )
        return rng.choice(shapes)()

    def _call(self) -> str:
        rng = self._rng
        name = rng.choice(self._functions)
        count = rng.choice(self._sizes.get(name, (1, 2, 2, 3, 3, 4, 4, 5, 6)))
        call = f"{name}({', '.join(self._argument() for _ in range(count))})"
        shape = rng.randrange(6)
        if shape == 0:
            return f"{rng.choice(('CHECK', 'CUDA_CHECK', 'checkCudaErrors', 'gpuErrchk'))}({call});"
        if shape == 1:
            return f"cudaError_t {self._name()} = {call};"
        if shape == 2:
            return f"if ({call} != cudaSuccess) return {rng.choice(('1', '-1', 'false'))};"
        return f"{call};"

    def _assembly(self) -> str:
        rng, fields = self._rng, self._fields()
        volatile = rng.choice((" volatile", "", " volatile"))
        word = rng.choice(("asm", "asm", "__asm__"))
        if rng.random() < 0.25:
            text, inputs = rng.choice(_WITHOUT_RESULT)
            given = ", ".join(f'"{kind}"({self._name()})' for kind in inputs)
            tail = f" :: {given}" if given else rng.choice(("", ' ::: "memory"'))
            return f'{word}{volatile}("{text.format(**fields)}"{tail});'
        text, result, inputs = rng.choice(_ASSEMBLY)
        given = ", ".join(f'"{kind}"({self._name()})' for kind in inputs)
        code = text.format(**fields).replace("%laneid", "%%laneid")
        for special in _CHOICES["special"]:
            code = code.replace(f" %{special};", f" %%{special};")
        operands = f" : {given}" if given else ""
        return f'{word}{volatile}("{code}" : "={result}"({self._name()}){operands});'

    def _device_line(self) -> str:
        rng, fields = self._rng, self._fields()
        shape = rng.random()
        if shape < 0.5:
            return self._assembly()
        if shape < 0.75:
            return f"{self._name()} = {rng.choice(_WARP).format(**fields)};"
        name = rng.choice(self._device)
        arguments = ", ".join(self._name() for _ in range(rng.choice((1, 2, 2, 3))))
        return f"{self._name()} = {name}({arguments});"

    def _host_line(self) -> str:
        rng, fields = self._rng, self._fields()
        shape = rng.random()
        if shape < 0.62:
            return self._call()
        if shape < 0.75:
            return rng.choice(_DECLARATIONS[4:]).format(**fields)
        if shape < 0.88:
            return f"{self._name()} = {rng.choice(self._enumerators)};"
        return rng.choice(_LAUNCHES).format(**fields)

    def _include(self) -> str:
        rng = self._rng
        known = rng.random() < 0.6
        fields = {
            "header": rng.choice(self._headers if known else _PLAIN_HEADERS),
            "name": self._name(),
        }
        return rng.choice(_INCLUDES).format(**fields)

    def source(self) -> str:
        """The text of the file."""
        rng = self._rng
        lines = [self._include() for _ in range(rng.randrange(1, 8))]
        lines += [
            rng.choice(_DECLARATIONS[:4]).format(**self._fields()) for _ in range(rng.randrange(3))
        ]
        for _ in range(rng.choice((1, 1, 2))):
            lines += ["", f"__global__ void {self._name()}(float* {self._name()}, int n) {{"]
            lines += [f"    {self._device_line()}" for _ in range(rng.randrange(1, 7))]
            lines.append("}")
        lines += ["", f"int {self._name()}() {{"]
        lines += [f"    {self._host_line()}" for _ in range(rng.randrange(3, 22))]
        return "\n".join([*lines, "    return 0;", "}", ""])


def drills(
    count: int,
    seed: int,
    *,
    functions: Sequence[str],
    types: Sequence[str],
    enumerators: Sequence[str],
    device: Sequence[str],
    sizes: Mapping[str, Sequence[int]],
    headers: Sequence[str],
) -> Iterator[str]:
    """``count`` files over the given CUDA names; ``sizes`` are numbers of arguments that matter."""
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        drill = _Drill(rng, functions, types, enumerators, device, sizes, headers)
        yield drill.source()
