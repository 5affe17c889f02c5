"""``asm`` statements of blocks, in the ways in which people lay them out."""

from __future__ import annotations

import random
from collections.abc import Sequence

from recipes.small.asm_programs.blocks import AsmBlock

_WORDS = (
    *("asm volatile", "asm volatile", "asm volatile", "asm", "asm", "asm", "asm __volatile__"),
    *("__asm__ volatile", "__asm__ __volatile__", "__asm__", "asm  volatile"),
)


def statement(
    rng: random.Random, block: AsmBlock, outputs: Sequence[str], inputs: Sequence[str]
) -> list[str]:
    """Lines of the statement with C expressions as operands, without its semicolon."""
    numbers = {f"o{n}": f"%{n}" for n in range(len(outputs))}
    numbers |= {f"i{n}": f"%{len(outputs) + n}" for n in range(len(inputs))}
    instructions = [text.format(**numbers) for text in block.instructions]
    lines = _scoped(rng, block, instructions, bool(outputs or inputs))
    head = rng.choice(_WORDS)
    if block.memory and "volatile" not in head:
        head = "asm volatile"
    sections = _sections(rng, block, outputs, inputs)
    space = rng.choice(("", "", "", " "))
    shape = rng.random()
    if len(lines) == 1 or shape < 0.3:
        between = rng.choice((" ", r"\n\t", r"\n", r"\n\t"))
        text = between.join(lines)
        if between != " " and rng.random() < 0.5:
            text += between
        made = [f'{head}{space}("{text}"']
    else:
        ending = rng.choice((r"\n\t", r"\n", r"\n\t", " ", r" \n\t"))
        quoted = [f'"{line}{ending}"' for line in lines[:-1]]
        quoted.append(f'"{lines[-1]}{rng.choice((ending, ""))}"')
        indent = rng.choice(("    ", "        ", "  ", " " * (len(head) + 1)))
        if rng.random() < 0.5:
            made = [f"{head}{space}({quoted[0]}", *(f"{indent}{text}" for text in quoted[1:])]
        else:
            made = [f"{head}{space}(", *(f"{indent}{text}" for text in quoted)]
    return _closed(rng, made, sections)


def _scoped(
    rng: random.Random, block: AsmBlock, instructions: list[str], operands: bool
) -> list[str]:
    """Declarations and instructions, between braces where there are declarations."""
    lines = [*block.declarations, *instructions]
    if not operands:  # without operands a percent sign is one
        lines = [line.replace("%%", "%") for line in lines]
    if block.declarations or (len(instructions) > 1 and rng.random() < 0.2):
        if rng.random() < 0.6:
            return ["{", *lines, "}"]
        return [f"{{ {lines[0]}", *lines[1:-1], f"{lines[-1]} }}"]
    return lines


def _sections(
    rng: random.Random, block: AsmBlock, outputs: Sequence[str], inputs: Sequence[str]
) -> list[str]:
    space = rng.choice(("", "", "", " "))
    letters = {"S": "r", "P": "l", "L": "l"}
    given = []
    for kind, expression in zip(block.outputs, outputs, strict=True):
        sign = "+" if kind.endswith("+") else "="
        early = "&" if sign == "=" and len(block.instructions) > 1 and rng.random() < 0.3 else ""
        given.append(f'"{sign}{early}{kind[0]}"{space}({expression})')
    taken = []
    for kind, expression in zip(block.inputs, inputs, strict=True):
        taken.append(f'"{letters.get(kind, kind)}"{space}({expression})')
    clobbers = '"memory"' if block.memory and rng.random() < 0.7 else ""
    sections = [", ".join(given), ", ".join(taken), clobbers]
    while sections and not sections[-1]:
        sections.pop()
    return sections


def _closed(rng: random.Random, made: list[str], sections: list[str]) -> list[str]:
    if not sections:
        made[-1] += ")"
        return made
    if len(made) == 1 and rng.random() < 0.75:
        text = "".join(f" : {section}" if section else " :" for section in sections)
        if rng.random() < 0.6:
            text = text.replace(" : :", " ::").replace(":: :", ":::")
        made[-1] += f"{text})"
        return made
    indent = rng.choice(("    ", "        ", "      "))
    made += [f"{indent}: {section}".rstrip() for section in sections]
    made[-1] += rng.choice((")", ")", " )"))
    return made
