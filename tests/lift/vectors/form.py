"""What an opcode form is, and the PTX of a module of forms."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product

from tests.lift.vectors.recipes import BLOCK, GRID, INPUT_BYTES, OUTPUT_BYTES, STORED

PTX_VERSION = "9.0"

_REGISTER_TYPES = {
    "byte": "b16", "i16": "b16", "f16": "b16", "bf16": "b16", "fp8x2": "b16",
    "f32": "f32", "f64": "f64", "tiny_f64": "f64", "i64": "b64",
}  # fmt: skip
_LOAD_TYPES = {"b16": "b16", "b32": "b32", "b64": "b64", "f32": "f32", "f64": "f64"}
_WORDS = {"b64": 2, "f64": 2}


@dataclass(frozen=True)
class Form:
    """A PTX snippet over operands %a, %b, %c (of the kinds in ``operands``) with results %d, %e ….

    The snippet may use registers %t0 … of every type (t b32, x b64, h b16, f f32, g f64), the
    predicates %p0 …, %out (address of the lane's output slot), %in, %lane (number in the grid),
    %thread, %block and the uniform kernel parameters %p and %q. ``results`` are register types.
    Where it is empty the snippet stores ``words`` words at %out itself. ``ulp`` is the error that
    the vendor states for approximate functions, -n an error of 2^-n of the larger of the value and
    1. ``globals`` is text before the kernel, ``minimum`` the first architecture that has the form.
    """

    name: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    body: str
    minimum: int = 80
    ulp: int = 0
    words: int = 0
    globals: str = ""
    floats: str = ""
    """f32, f64, f16, bf16: what result words hold, for comparisons that are not of bits."""
    kept: int = STORED
    """Lanes whose exact results are stored in full; the others' are stored as checksums."""
    grid: tuple[int, ...] = GRID
    """Blocks by x, y, z and threads of a block by x, y, z. However they lie, %block and %thread are
    numbers of blocks and of threads in theirs."""

    @property
    def result_words(self) -> int:
        """32-bit words of output a lane."""
        return self.words or sum(_WORDS.get(kind, 1) for kind in self.results)

    def ptx(self) -> str:
        """The kernel."""
        lines = [self.globals] if self.globals else []
        lines += [
            f".visible .entry {self.name}(.param .u64 p_in, .param .u64 p_out,",
            "  .param .b64 p_p, .param .b64 p_q)",
            "{",
            "  .reg .pred %p<8>; .reg .b32 %t<16>; .reg .b64 %x<16>; .reg .b16 %h<16>;",
            "  .reg .f32 %f<16>; .reg .f64 %g<16>;",
            "  .reg .b32 %thread, %block, %lane; .reg .b64 %in, %out, %p, %q;",
            "  ld.param.u64 %in, [p_in]; ld.param.u64 %out, [p_out];",
            "  ld.param.b64 %p, [p_p]; ld.param.b64 %q, [p_q];",
            *self._numbers(),
            f"  mad.lo.u32 %lane, %block, {BLOCK}, %thread;",
            f"  mad.wide.u32 %in, %lane, {INPUT_BYTES}, %in;",
            f"  mad.wide.u32 %out, %lane, {OUTPUT_BYTES}, %out;",
        ]
        for position, kind in enumerate(self.operands):
            name, register = "abc"[position], _REGISTER_TYPES.get(kind, "b32")
            load = _LOAD_TYPES[register]
            lines.append(f"  .reg .{register} %{name};")
            lines.append(f"  ld.global.{load} %{name}, [%in+{8 * position}];")
        for name, kind in zip("defghijk", self.results, strict=False):
            lines.append(f"  .reg .{kind} %{name};")
        lines += ["  {", *(f"  {line}" for line in self.body.strip().splitlines()), "  }"]
        lines += [*self._stores(), "  ret;", "}"]
        return "\n".join(lines)

    def _numbers(self) -> Iterator[str]:
        yield "  mov.u32 %thread, %tid.x; mov.u32 %block, %ctaid.x;"
        if self.grid == GRID:
            return
        for target, name, sizes in (
            ("block", "ctaid", self.grid),
            ("thread", "tid", self.grid[3:]),
        ):
            x, y, _, *_ = sizes
            yield f"  mov.u32 %t0, %{name}.y; mad.lo.u32 %{target}, %t0, {x}, %{target};"
            yield f"  mov.u32 %t0, %{name}.z; mad.lo.u32 %{target}, %t0, {x * y}, %{target};"

    def _stores(self) -> Iterator[str]:
        word = 0
        for name, kind in zip("defghijk", self.results, strict=False):
            size = _WORDS.get(kind, 1)
            if kind == "b16":
                yield f"  cvt.u32.u16 %t0, %{name};"
                yield f"  st.global.b32 [%out+{4 * word}], %t0;"
            elif size == 1 or word % 2 == 0:
                yield f"  st.global.{kind} [%out+{4 * word}], %{name};"
            else:
                yield f"  mov.b64 {{%t0, %t1}}, %{name};"
                yield f"  st.global.b32 [%out+{4 * word}], %t0;"
                yield f"  st.global.b32 [%out+{4 * word + 4}], %t1;"
            word += size


@dataclass
class Table:
    """Collects forms; refuses a name that is taken."""

    forms: dict[str, Form] = field(default_factory=dict)
    kept: int = STORED
    """What forms that are added from now on have as :attr:`Form.kept`."""

    def add(
        self,
        name: str,
        operands: str,
        results: str,
        body: str,
        **options: int | str | tuple[int, ...],
    ) -> None:
        """One form; operands and results are lists of kinds with blanks between."""
        name = re.sub(r"\W+", "_", name).strip("_")
        if name in self.forms:
            raise ValueError(f"form {name} twice")
        given = {"kept": self.kept} | options
        form = Form(name, tuple(operands.split()), tuple(results.split()), body, **given)  # type: ignore[arg-type]
        self.forms[name] = form

    def op(self, opcode: str, operands: str, results: str, **options: int | str) -> None:
        """An instruction whose operands are just %d and %a, %b, %c."""
        count = len(operands.split())
        sources = ", ".join(f"%{name}" for name in "abc"[:count])
        self.add(opcode, operands, results, f"{opcode} %d, {sources};", **options)

    def ops(self, pattern: str, operands: str, results: str, **options: int | str) -> None:
        """:meth:`op` for every opcode that ``pattern`` with alternatives in braces stands for.

        ``.xorsign`` is there from sm_86 on.
        """
        for opcode in expand(pattern):
            given = {"minimum": 86} | options if ".xorsign" in opcode else options
            self.op(opcode, operands, results, **given)


def expand(pattern: str) -> Iterator[str]:
    """Every text that ``pattern`` with {alternatives,in,braces} stands for."""
    parts = re.split(r"\{([^}]*)\}", pattern)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    for chosen in product(*choices):
        yield "".join(chosen)


def module(forms: Iterable[Form], architecture: int) -> str:
    """PTX of kernels for one architecture (80 for sm_80)."""
    head = f".version {PTX_VERSION}\n.target sm_{architecture}\n.address_size 64\n"
    return head + "\n".join(form.ptx() for form in forms) + "\n"


def digest(form: Form) -> str:
    """Tells whether a stored result is of this very kernel and these operands."""
    placed = [] if form.grid == GRID else [str(form.grid)]
    text = " ".join([*form.operands, *placed, form.ptx()])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
