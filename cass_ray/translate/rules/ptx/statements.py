"""Inline PTX: ``asm`` statements become C++ where every instruction of them is known.

An ``asm`` statement is rewritten as a whole or not at all: a template with one unknown instruction
stays and is reported with that instruction. Inputs are read into locals first and outputs stored
last, as the registers of the statement are.
"""

from __future__ import annotations

import ast
import re
import string
from dataclasses import dataclass
from functools import lru_cache

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules.ptx import halves, macros, shared_registers
from cass_ray.translate.rules.ptx.instructions import translate_instruction
from cass_ray.translate.rules.ptx.registers import TYPES, RegisterState, UnknownInstructionError
from cass_ray.translate.rules.ptx.shared_registers import Shared
from cass_ray.translate.rules.regions import DEVICE_WORDS, DIRECTIVE
from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.text import Span

_WORDS = ("asm", "__asm", "__asm__")
_HEAD = re.compile(r"\s*(?:(?:volatile|__volatile__|__volatile)\s*)?\(")
_GAP = re.compile(r"(?:\s|\\\r?\n|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
_STRING = re.compile(
    _GAP.pattern
    + r'(?:("(?:[^"\\\n]|\\.)*")|R"(?P<mark>[^\s()\\]{0,16})\((?P<raw>.*?)\)(?P=mark)")',
    re.DOTALL,
)
_CALL = re.compile(_GAP.pattern + r"(?P<name>[A-Za-z_]\w*)(?:\([^()\n]*\))?", re.DOTALL)
_HINT = re.compile(r'(?:"\.L2::(?:\w|"\s*#\s*\w+\s*")*")?')
"""``".L2::128B"``, ``".L2::" #size "B"``, or nothing."""
_DEFINE = re.compile(r"^[ \t]*+#[ \t]*+define[ \t]++(\w++)(?:\([^()\n]*+\))?+(.*)$", re.MULTILINE)
_QUOTED = re.compile(r'"([^"\n]*)"[ \t]*(?:\Z|//|/\*)')
_CONSTRAINT = re.compile(r'\s*+(?:\[\s*+(\w+)\s*+\])?\s*+"([=+]?)&?([rlhfdnbC])"\s*\(')
_NAMED_CONSTRAINT = re.compile(r"\s*+(?:\[\s*+(\w+)\s*+\])?\s*+([A-Za-z_]\w*)\s*\(")
_CONSTRAINT_TEXT = re.compile(r"([=+]?)&?([rlhfdnbC])")
_CONSTRAINTS = {"r": "b32", "l": "b64", "h": "b16", "f": "f32", "d": "f64"}
_REGISTER = re.compile(r"\.reg\s*\.(\w+)\s+(.+)", re.DOTALL)
_NUMBERED = re.compile(r"(.+)<(\d+)>\Z")
_PREDICATE = re.compile(r"@(!?)\s*([%\w$]+)\s+(.*)", re.DOTALL)
_INSTRUCTION = re.compile(r"([a-zA-Z][\w.:]*)\s*(.*)", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HOST_DIRECTIVE = re.compile(
    r"\s*\.(?:symver|globl|hidden|type|size|set|equ|incbin|ident|pushsection)\b"
)
"""Of the host's assembler, at file scope; PTX has none of these."""
_HOST_FILES = (".c", ".cc", ".cpp", ".cxx", ".c++")
_HOST_INSTRUCTION = re.compile(
    r'"\s*(?:lock\b|rep\b|int3|int\s+\$|nop|pause|yield|[lms]fence|rdtscp?|rdpmc|cpuid|xgetbv|bswap|ud2'
    r"|prefetch\w*|hlt|wfe|isb|dmb|dsb|mrs|(?:mov|add|sub|xor|or|and|bs[fr]|popcnt|xadd|cmpxchg|xchg)"
    r"[bwlq]?\s+[%$(])"
)
_HOST_OPERAND = re.compile(r'%%[a-z]|"[=+]?&?[acSDqQmgiNxAtu]"\s*\(|"cc"')
"""Registers and constraints of x86 and Arm that PTX has none of."""
_MOST_CHOICES = 8
"""A template may be read in so many ways, by the branches of ``#if`` inside it."""
_MOST_REGISTERS = 4096
"""Of one statement: `.reg .b32 %r<1000000000>` is short."""


@dataclass(frozen=True)
class Operand:
    """One operand of the statement: its name, PTX type, expression, and which way it goes."""

    name: str
    kind: str
    expression: str
    is_input: bool
    is_output: bool

    @property
    def local(self) -> str:
        """The name of the local that holds it."""
        return f"cass_{self.name}"

    @property
    def value(self) -> str:
        """The expression as its type: a C cast, for it may be a pointer or any integer."""
        kind = TYPES[self.kind] if self.kind else "int"
        if self.kind in {"f32", "f64"} or not self.kind:
            return f"({self.expression})"
        return f"({kind})({self.expression})"


@dataclass(frozen=True)
class PtxStatement:
    """A parsed ``asm`` statement; ``end`` is behind its closing parenthesis."""

    templates: tuple[str, ...]
    """One, or one for each choice of branches of the ``#if`` inside it."""
    operands: tuple[Operand, ...]
    end: int


def translate_assembly(unit: Rewrite) -> None:
    """Translate the ``asm`` statements of the file; report those that have no translation."""
    together, refused = shared_registers.translate(unit, _WORDS, _in_function)
    for word in _WORDS:
        for offset in unit.words.get(word, ()):
            if offset in together:
                unit.edits.replace(offset, *together[offset])
                if offset in refused:
                    _report(unit, offset, refused[offset])
                else:
                    unit.converted(offset)
                continue
            try:
                statement = _parse(unit, offset + len(word))
                if statement is None or _HOST_DIRECTIVE.match(statement.templates[0]):
                    continue  # A register name or an attribute; or not for the device.
                code = _translate(unit, statement)
            except UnknownInstructionError as error:
                if _is_of_the_host(unit, offset, word):
                    unit.handled.add(offset)
                    continue
                try:
                    done = _write_out(unit, offset, word)
                except UnknownInstructionError:
                    done = False
                if not done:
                    _report(unit, offset, str(error))
                continue
            unit.edits.replace(offset, statement.end, code)
            unit.converted(offset)


def _is_of_the_host(unit: Rewrite, offset: int, word: str) -> bool:
    """Whether the statement is for the host's processor, as far as can be told."""
    if offset in unit.device:
        return False
    if unit.filename.endswith(_HOST_FILES) and not unit.words.keys() & set(DEVICE_WORDS):
        return True
    head = _HEAD.match(unit.source.code, offset + len(word))
    closing = unit.source.closing(head.end() - 1) if head else -1
    text = unit.source.text[offset : closing + 1]
    return _HOST_INSTRUCTION.search(text) is not None or _HOST_OPERAND.search(text) is not None


def _write_out(unit: Rewrite, offset: int, word: str) -> bool:
    """Whether the statement, in a macro that builds it, was written out for the macro's uses."""
    head = _HEAD.match(unit.source.code, offset + len(word))
    closing = unit.source.closing(head.end() - 1) if head else -1
    if closing < 0 or not macros.write_out(unit, (offset, closing + 1), word, _statement):
        return False
    unit.converted(offset)
    return True


def _statement(unit: Rewrite, offset: int) -> str:
    """The C++ for the statement behind ``offset``."""
    parsed = _parse(unit, offset)
    if parsed is None:
        raise UnknownInstructionError("no statement")
    return _translate(unit, parsed)


def _in_function(unit: Rewrite, offset: int, shared: Shared | None) -> tuple[int, str] | None:
    """The end of the statement behind ``offset`` and the C++ for it, with what is ``shared``; None
    for what is no statement of PTX."""
    parsed = _parse(unit, offset)
    if parsed is None or _HOST_DIRECTIVE.match(parsed.templates[0]):
        return None
    return parsed.end, _translate(unit, parsed, shared)


def _report(unit: Rewrite, offset: int, what: str) -> None:
    unit.handled.add(offset)
    unit.report(
        offset,
        "asm",
        Severity.ERROR,
        f"inline PTX with {what} has no translation",
        "write what it computes in C++ or with a builtin",
    )


def _parse(unit: Rewrite, offset: int) -> PtxStatement | None:
    code, text = unit.source.code, unit.source.text
    head = _HEAD.match(code, offset)
    if head is None:
        return None
    closing = unit.source.closing(head.end() - 1)
    if closing < 0:
        raise UnknownInstructionError("an open parenthesis")
    colons = _colons(code, head.end(), closing)
    branches = _branches(text, head.end(), colons[0] if colons else closing)
    templates = tuple("".join(_template(text, *span) for span in spans) for spans in branches)
    operands: list[Operand] = []
    for section, start in enumerate(colons[:2]):
        end = colons[section + 1] if section + 1 < len(colons) else closing
        operands += _operands(unit, (start + 1, end), len(operands))
    return PtxStatement(templates, tuple(operands), closing + 1)


def _colons(code: str, start: int, end: int) -> list[int]:
    """The colons that part the sections, at the outermost level of brackets."""
    colons: list[int] = []
    depth = 0
    position = start
    while position < end:
        mark = code[position]
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif mark == '"':
            position = code.find('"', position + 1, end)
            if position < 0:
                raise UnknownInstructionError("a string without end")
        elif mark == ":" and depth == 0:
            if code.startswith("::", position) and _is_scope(code, position):
                position += 1
            else:
                colons.append(position)
        position += 1
    return colons


def _is_scope(code: str, position: int) -> bool:
    before = code[max(0, position - 80) : position].rstrip()[-1:]
    return (before.isalnum() or before == "_") and code[position + 2 : position + 3].isalpha()


def _branches(text: str, start: int, end: int) -> list[list[Span]]:
    """Return the pieces of a template for each choice of branches of the ``#if`` inside it."""
    choices: list[list[Span]] = [[]]
    branches: list[Span] | None = None
    has_else = False
    for directive in DIRECTIVE.finditer(text, start, end):
        span, start = (start, directive.start()), directive.end()
        if directive["name"].startswith("if") != (branches is None) or len(choices) > _MOST_CHOICES:
            raise UnknownInstructionError("a template with directives inside one another")
        if branches is None:
            choices = [[*each, span] for each in choices]
            branches = []
            continue
        branches.append(span)
        if directive["name"] == "endif":
            ends = branches if has_else else [*branches, (start, start)]
            choices = [[*each, branch] for each in choices for branch in ends]
            branches = None
        has_else = directive["name"] == "else"
    return [[*each, (start, end)] for each in choices]


def _template(text: str, start: int, end: int) -> str:
    pieces: list[str] = []
    position = start
    while match := _STRING.match(text, position, end) or _hint(text, position, end):
        if match.re is _CALL:
            position = match.end()
            continue
        try:
            quoted = (match[1] or '""').replace("\\\r\n", "").replace("\\\n", "")
            pieces.append(match["raw"] or ast.literal_eval(quoted))
        except (SyntaxError, ValueError) as error:
            raise UnknownInstructionError("a template that is not plain text") from error
        position = match.end()
    if not _GAP.fullmatch(text, position, end):
        raise UnknownInstructionError("a template that macros build")
    return "".join(pieces)


def _hint(text: str, start: int, end: int) -> re.Match[str] | None:
    """A macro of the file in a template that tells of caches, or is empty: it computes nothing."""
    found = _CALL.match(text, start, end)
    if found is None:
        return None
    meanings = _macros(text).get(found["name"], ())
    return found if meanings and all(map(_HINT.fullmatch, meanings)) else None


@lru_cache(maxsize=2)
def _macros(text: str) -> dict[str, list[str]]:
    """Return what each macro of a file may stand for. It is kept, since each statement asks."""
    macros: dict[str, list[str]] = {}
    for match in _DEFINE.finditer(text):
        macros.setdefault(match[1], []).append(match[2].strip())
    return macros


def _operands(unit: Rewrite, span: Span, first: int) -> list[Operand]:
    text = unit.source.text
    found: list[Operand] = []
    end = span[1]
    position = _next_operand(text, *span)
    while position < end:
        match, direction, letter = _constraint(unit, position, end)
        closing = unit.source.closing(match.end() - 1)
        if closing < 0:
            raise UnknownInstructionError("an open parenthesis")
        expression = unit.edits.within(text, match.end(), closing).strip()
        index = first + len(found)
        kind = _CONSTRAINTS.get(letter, "")
        found.append(
            Operand(
                match[1] or str(index),
                kind,
                expression,
                is_input=direction != "=",
                is_output=direction in {"=", "+"},
            )
        )
        position = _next_operand(text, closing + 1, end)
    return found


def _constraint(unit: Rewrite, position: int, end: int) -> tuple[re.Match[str], str, str]:
    """What an operand begins with, its direction and the letter of its kind of register.

    The constraint may be a macro of the file: a pointer's is ``"l"`` where pointers have 64 bits,
    as on every host of CUDA and HIP, and ``"r"`` elsewhere.
    """
    text = unit.source.text
    if match := _CONSTRAINT.match(text, position, end):
        return match, match[2], match[3]
    named = _NAMED_CONSTRAINT.match(text, position, end)
    if named is not None:
        quoted = map(_QUOTED.match, _macros(text).get(named[2], ()))
        values = {match[1] for match in quoted if match}
        values = {"l"} if values == {"l", "r"} else values
        found = _CONSTRAINT_TEXT.fullmatch(values.pop()) if len(values) == 1 else None
        if found is not None:
            return named, found[1], found[2]
    raise UnknownInstructionError("operands that macros build")


def _next_operand(text: str, position: int, end: int) -> int:
    """Behind blanks, joined lines and commas."""
    while position < end and text[position] in " \t\r\n\\,":
        position += 1
    return position


def _translate(unit: Rewrite, statement: PtxStatement, shared: Shared | None = None) -> str:
    """The C++ for a statement, which all of its templates have to agree on.

    What is ``shared`` the function declares.
    """
    first, *others = (_read(statement.operands, each, shared) for each in statement.templates)
    if any(other != first for other in others):
        raise UnknownInstructionError("branches of #if that differ")
    code, state = first
    if shared is not None:
        shared.take(state)
    unit.snippets |= state.snippets
    return code


def _read(
    operands: tuple[Operand, ...], text: str, shared: Shared | None
) -> tuple[str, RegisterState]:
    """The C++ for a template: one assignment where it is one, else a block; registers after it."""
    state = shared.state() if shared else RegisterState()
    template = _COMMENT.sub(" ", text).replace("%%", "%")
    lines: list[str] = []
    for index, operand in enumerate(operands):
        register = (operand.kind, operand.local) if operand.kind else ("s32", operand.value)
        state.registers[f"%{index}"] = register
        state.registers[f"%[{operand.name}]"] = register
        if operand.kind:
            start = f" = {operand.value}" if operand.is_input else ""
            lines.append(f"{TYPES[operand.kind]} {operand.local}{start};")
    body = _body(state, template)
    if shared is None:
        body = [*state.declarations.values(), *body]
    if expression := _as_expression(operands, body, "cvta" in template):
        return expression, state
    if state.sets_carry and shared is None:
        lines.insert(0, "unsigned int cass_carry = 0;")
    stores = [
        f"{operand.expression} = {_stored(operand, operand.local, pointers=True)};"
        for operand in operands
        if operand.is_output
    ]
    return "do { " + " ".join([*lines, *body, *stores]) + " } while (0)", state


def _body(state: RegisterState, template: str) -> list[str]:
    statements: list[str] = []
    for part in re.split(r";", template.replace("\t", " ")):
        # Braces are scopes, unless they hold a vector operand.
        line = part.strip().lstrip("{}" + string.whitespace)
        if line.endswith("}") and line.count("{") < line.count("}"):
            line = line[:-1].strip()
        if line:
            statements += _instruction(state, line)
    return statements


def _instruction(state: RegisterState, line: str) -> list[str]:
    register = _REGISTER.match(line)
    if register:
        _declare(state, register[1], register[2])
        return []
    condition = ""
    predicate = _PREDICATE.match(line)
    if predicate:
        condition = f"if ({predicate[1]}{state.read(predicate[2], 'pred')}) "
        line = predicate[3]
    match = _INSTRUCTION.match(line)
    if match is None or line.endswith(":"):
        raise UnknownInstructionError(f"“{line.split()[0]}”")
    statement = translate_instruction(state, match[1], _split(match[2]))
    return [f"{condition}{{ {statement} }}" if condition else statement]


def _declare(state: RegisterState, kind: str, names: str) -> None:
    kind = halves.REGISTERS.get(kind, kind)
    if kind not in TYPES:
        raise UnknownInstructionError(f"registers of type {kind}")
    for name in (item.strip() for item in names.split(",")):
        numbered = _NUMBERED.match(name)
        count = int(numbered[2][:9]) if numbered else 1
        if len(state.registers) + count > _MOST_REGISTERS:
            raise UnknownInstructionError(f"more than {_MOST_REGISTERS} registers")
        registers = [f"{numbered[1]}{i}" for i in range(count)] if numbered else [name]
        for item in registers:
            variable = "cass_" + re.sub(r"\W", "_", item)
            state.registers[item] = (kind, variable)
            declaration = f"{TYPES[kind]} {variable} = 0;"
            if state.declarations.setdefault(variable, declaration) != declaration:
                raise UnknownInstructionError(f"two kinds of registers named {item}")


def _split(operands: str) -> list[str]:
    """Operands parted at commas outside brackets and braces."""
    found: list[list[str]] = []
    depth = 0
    for piece in operands.split(","):
        if depth:
            found[-1].append(piece)
        else:
            found.append([piece])
        depth += sum(piece.count(mark) for mark in "{[") - sum(piece.count(m) for m in "}]")
    joined = (",".join(pieces).strip() for pieces in found)
    return [item for item in joined if item]


def _as_expression(operands: tuple[Operand, ...], body: list[str], pointers: bool) -> str:
    """``x = …`` for a statement with one instruction and at most one output; empty for others."""
    outputs = [operand for operand in operands if operand.is_output]
    if len(body) != 1 or body[0].count(";") != 1 or body[0].startswith(("if ", "{")):
        return ""
    if len(outputs) > 1 or any(operand.is_input for operand in outputs):
        return ""
    value = body[0][:-1]
    for operand in outputs:
        if not value.startswith(f"{operand.local} = "):
            return ""
        value = value.removeprefix(f"{operand.local} = ")
    for operand in operands:
        if not operand.is_input or not operand.kind:
            continue
        uses = len(re.findall(rf"\b{operand.local}\b", value))
        if uses > 1 and not operand.expression.isidentifier():
            return ""
        value = re.sub(rf"\b{operand.local}\b", operand.value.replace("\\", r"\\"), value)
    if not outputs:
        return value
    return f"{outputs[0].expression} = {_stored(outputs[0], value, pointers)}"


def _stored(operand: Operand, value: str, pointers: bool) -> str:
    """``value`` as what the output takes: addresses may go to pointers."""
    if operand.kind == "b64" and pointers:
        return f"(decltype(({operand.expression}) + 0))({value})"
    return value
