"""One kernel: what surrounds its instructions, its blocks and its branches."""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.assembly import gnu
from cass_ray.assembly.rdna3 import (
    Rdna3Argument,
    Rdna3Function,
    Rdna3Kernel,
    Rdna3Line,
    Rdna3LineKind,
    Rdna3Module,
)
from cass_ray.rdna3_to_ptx.errors import UnknownInstruction
from cass_ray.rdna3_to_ptx.lanes import DPP_MODIFIERS, data_parallel
from cass_ray.rdna3_to_ptx.operands import parse, split_modifiers
from cass_ray.rdna3_to_ptx.scalar import IGNORED
from cass_ray.rdna3_to_ptx.table import Rdna3Instruction, table
from cass_ray.rdna3_to_ptx.wave import Wave

_BRANCHES = {
    "s_cbranch_scc0": "@!%scc",
    "s_cbranch_scc1": "@%scc",
    "s_cbranch_vccz": "setp.eq.u32 {p}, %vcc_lo, 0",
    "s_cbranch_vccnz": "setp.ne.u32 {p}, %vcc_lo, 0",
    "s_cbranch_execz": "setp.eq.u32 {p}, %exec, 0",
    "s_cbranch_execnz": "setp.ne.u32 {p}, %exec, 0",
}
_HIDDEN = {
    "hidden_block_count": ("%nctaid", 4),
    "hidden_group_size": ("%ntid", 2),
    "hidden_remainder": ("", 2),
}
_MOST_ARGUMENT_BYTES = 32_764
"""What a CUDA kernel takes."""
_SUFFIXES = ("_e32", "_e64", "_dpp", "_e64_dpp", "_vi", "_sdwa")


@dataclass(frozen=True)
class KernelText:
    """PTX of a kernel, and the symbols that it names."""

    text: str
    symbols: frozenset[str]


class KernelWriter:
    """Writes one kernel of a module as PTX."""

    def __init__(self, module: Rdna3Module, name: str) -> None:
        self.module = module
        self.name = name
        self.kernel: Rdna3Kernel = module.kernels[name]
        if name not in module.functions:
            raise UnknownInstruction(name, "a kernel descriptor without code")
        self.function: Rdna3Function = module.functions[name]
        self.wave = Wave()
        self.arguments: list[Rdna3Argument] = self.kernel.arguments
        for each in self.arguments:
            if not 0 <= each.offset <= each.offset + each.size <= _MOST_ARGUMENT_BYTES:
                raise UnknownInstruction(name, f"an argument of {each.size} bytes")

    def write(self) -> KernelText:
        """Raises :class:`UnknownInstruction`."""
        if self.kernel.wavefront_size != 32:
            raise UnknownInstruction(self.name, "a wave of 64 lanes")
        self._prologue()
        for index in self.function.lines:
            line = self.module.lines[index]
            if line.label and line.label != self.name:
                self.wave.lines.append(f"{_label(line.label)}:")
            if line.kind is Rdna3LineKind.INSTRUCTION:
                self._line(line)
        # Code behind the last instruction is never reached, and PTX wants an end.
        body = [*self.wave.lines, "  ret;"]
        declarations = list(self.wave.declarations())
        return KernelText(
            "\n".join([*self._head(), *declarations, *body, "}"]), frozenset(self.wave.symbols)
        )

    def _head(self) -> list[str]:
        parameters = [
            _parameter(number, argument)
            for number, argument in enumerate(self.arguments)
            if not argument.is_hidden
        ]
        lines = [f".visible .entry {self.name}({', '.join(parameters)})"]
        limit = self.kernel.metadata.get(".max_flat_workgroup_size")
        if limit:
            lines.append(f".maxntid {limit}, 1, 1")
        lines += ["{", "  .reg .pred %act, %scc;"]
        lines += ["  .reg .b32 %lane, %wave, %below, %lds, %scratch;"]
        if self.kernel.lds_bytes:
            lines.append(f"  .shared .align 16 .b8 lds_static[{self.kernel.lds_bytes}];")
        if self.kernel.scratch_bytes:
            lines.append(f"  .local .align 16 .b8 scratch_area[{self.kernel.scratch_bytes}];")
        total = max((item.offset + item.size for item in self.arguments), default=0)
        lines.append(f"  .local .align 16 .b8 arguments[{max(total, 16)}];")
        return lines

    def _prologue(self) -> None:
        wave = self.wave
        wave.line("mov.u32 %lane, %laneid")
        wave.line("mov.u32 %below, %lanemask_lt")
        wave.line("activemask.b32 %wave")
        wave.line("mov.u32 %exec, %wave")
        wave.update_active()
        wave.line("setp.ne.u32 %scc, %lane, %lane")
        wave.line(f"mov.u32 %lds, {'lds_static' if self.kernel.lds_bytes else 'lds_dynamic'}")
        wave.line(f"mov.u32 %scratch, {'scratch_area' if self.kernel.scratch_bytes else '0'}")
        for name in ("vcc_lo", "vcc_hi", "m0"):
            wave.line(f"mov.b32 %{name}, 0")
        self._arguments()
        self._initial_registers()

    def _arguments(self) -> None:
        """The argument segment of AMD's ABI in local memory: code reads it through a pointer."""
        wave = self.wave
        for number, argument in enumerate(self.arguments):
            if argument.is_hidden:
                self._hidden(argument)
                continue
            start, position = argument.offset, 0
            while position < argument.size:
                size = next(
                    size
                    for size in (4, 2, 1)
                    if (start + position) % size == 0 and position + size <= argument.size
                )
                kind = {4: "b32", 2: "b16", 1: "b8"}[size]
                value = wave.temporary("b32" if size == 4 else "b16")
                wave.line(f"ld.param.{kind} {value}, [argument{number}+{position}]")
                wave.line(f"st.local.{kind} [arguments+{start + position}], {value}")
                position += size

    def _hidden(self, argument: Rdna3Argument) -> None:
        wave = self.wave
        kind, _, axis = argument.value_kind.rpartition("_")
        if kind in _HIDDEN and axis in ("x", "y", "z"):
            register, size = _HIDDEN[kind]
            value = wave.result(
                "b32", f"mov.u32 {{d}}, {f'{register}.{axis}' if register else '0'}"
            )
            if size == 4:
                wave.line(f"st.local.b32 [arguments+{argument.offset}], {value}")
                return
            half = wave.result("b16", f"cvt.u16.u32 {{d}}, {value}")
            wave.line(f"st.local.b16 [arguments+{argument.offset}], {half}")
        elif argument.value_kind == "hidden_grid_dims":
            half = wave.result("b16", "mov.b16 {d}, 3")
            wave.line(f"st.local.b16 [arguments+{argument.offset}], {half}")
        elif argument.value_kind == "hidden_dynamic_lds_size":
            total = wave.result("b32", "mov.u32 {d}, %dynamic_smem_size")
            wave.line(f"st.local.b32 [arguments+{argument.offset}], {total}")

    def _initial_registers(self) -> None:
        """User SGPRs, workgroup numbers behind them, and the packed work-item number in v0."""
        wave = self.wave
        given = {
            name: int(value, 0) for name, value in self.kernel.descriptor.items() if _is_int(value)
        }
        number = 0
        for name, size in (("dispatch_ptr", 2), ("queue_ptr", 2), ("kernarg_segment_ptr", 2),
                           ("dispatch_id", 2), ("private_segment_size", 1)):  # fmt: skip
            if not given.get(f"user_sgpr_{name}"):
                continue
            if name == "kernarg_segment_ptr":
                own = wave.result("b64", "mov.u64 {d}, arguments")
                address = wave.result("b64", f"cvta.local.u64 {{d}}, {own}")
                low, high = wave.name(f"s{number}"), wave.name(f"s{number + 1}")
                wave.line(f"mov.b64 {{{low}, {high}}}, {address}")
            else:
                for word in range(size):
                    wave.line(f"mov.b32 {wave.name(f's{number + word}')}, 0")
            number += size
        number = given.get("user_sgpr_count", number)
        for axis in "xyz":
            if given.get(f"system_sgpr_workgroup_id_{axis}"):
                wave.line(f"mov.u32 {wave.name(f's{number}')}, %ctaid.{axis}")
                number += 1
        packed = wave.result("b32", "mov.u32 {d}, %tid.x")
        for axis, place in (("y", 10), ("z", 20)):
            value = wave.result("b32", f"mov.u32 {{d}}, %tid.{axis}")
            shifted = wave.result("b32", f"shl.b32 {{d}}, {value}, {place}")
            packed = wave.result("b32", f"or.b32 {{d}}, {packed}, {shifted}")
        wave.line(f"mov.b32 {wave.name('v0')}, {packed}")

    def _line(self, line: Rdna3Line) -> None:
        if line.mnemonic in IGNORED:
            return
        self.wave.lines.append(f"  // {line.statement}")
        try:
            if "::" in line.statement:
                with self.wave.together():
                    for half in line.statement.split("::"):
                        self._instruction(_instruction(half.strip().replace("v_dual_", "v_", 1)))
            else:
                self._instruction(_instruction(line.statement))
        except UnknownInstruction as error:
            text, reason = line.statement, error.reason
            if error.text != text:
                reason = f"{error.text}: {reason}"
            raise UnknownInstruction(text, reason, self.name) from error

    def _instruction(self, i: Rdna3Instruction) -> None:
        wave = self.wave
        if i.mnemonic in _BRANCHES or i.mnemonic == "s_branch":
            self._branch(i)
        elif i.mnemonic == "s_endpgm":
            wave.line("ret")
        elif i.mnemonic == "s_barrier":
            wave.line("barrier.sync 0")
        elif DPP_MODIFIERS & i.modifiers.keys():
            self._with_dpp(i)
        elif i.mnemonic in table():
            table()[i.mnemonic](wave, i)
        else:
            raise UnknownInstruction(i.text, "the instruction is not in the table")

    def _branch(self, i: Rdna3Instruction) -> None:
        target = _label(i.operands[0])
        condition = _BRANCHES.get(i.mnemonic, "")
        if condition.startswith("setp"):
            predicate = self.wave.temporary("pred")
            self.wave.line(condition.format(p=predicate))
            condition = f"@{predicate}"
        self.wave.line(f"{condition} bra.uni {target}".strip())

    def _with_dpp(self, i: Rdna3Instruction) -> None:
        """The first source comes from another lane, and not all lanes are written."""
        wave = self.wave
        first = next(
            n for n, text in enumerate(i.operands) if n and text.lstrip("-|").startswith("v")
        )
        plain = i.operands[first].strip("-|")
        operand, written = data_parallel(wave, i, wave.bits32(parse(plain)))
        name = f"v{1000 + len(wave.lines)}"
        wave.line(f"mov.b32 {wave.name(name)}, {operand}")
        operands = list(i.operands)
        operands[first] = operands[first].replace(plain, name)
        rest = {key: value for key, value in i.modifiers.items() if key not in DPP_MODIFIERS}
        if i.mnemonic.startswith("v_cmp"):
            raise UnknownInstruction(i.text, "a comparison with DPP")
        wave.guard = written
        table_entry = table().get(i.mnemonic)
        if table_entry is None:
            raise UnknownInstruction(i.text, "the instruction is not in the table")
        table_entry(wave, Rdna3Instruction(i.mnemonic, tuple(operands), rest, i.text))
        wave.guard = "%act"


def _instruction(statement: str) -> Rdna3Instruction:
    mnemonic, _, rest = statement.partition(" ")
    if "\t" in mnemonic:
        mnemonic, _, rest = statement.partition("\t")
    plain = mnemonic
    for suffix in sorted(_SUFFIXES, key=len, reverse=True):
        if plain.endswith(suffix):
            plain = plain.removesuffix(suffix)
            break
    operands, modifiers = split_modifiers(gnu.split_operands(rest.strip()))
    return Rdna3Instruction(plain, tuple(operands), modifiers, statement)


def _parameter(number: int, argument: Rdna3Argument) -> str:
    """A parameter that CUDA places at the same offset: both ABIs align by type."""
    size, offset = argument.size, argument.offset
    if size in (1, 2, 4, 8) and offset % size == 0:
        return f".param .b{8 * size} argument{number}"
    alignment = next(a for a in (16, 8, 4, 2, 1) if offset % a == 0 and size % a == 0)
    return f".param .align {alignment} .b8 argument{number}[{size}]"


def _label(name: str) -> str:
    return name.replace(".", "$")


def _is_int(text: str) -> bool:
    try:
        int(text, 0)
    except ValueError:
        return False
    return True
