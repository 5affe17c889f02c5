"""What reads listings and assembly of strangers, and texts that it would read for ever."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from cass_ray.assembly import rdna3, sass
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.code import CubinCode
from cass_ray.lift.frontend.listing import cubin_of
from cass_ray.rdna3_to_ptx import to_ptx
from cass_ray.translate.rules.engine import RulesTranslator

SIZES = (1000, 4000, 16_000)
"""Characters of the texts."""

_RULES = RulesTranslator()
_LONGEST = 30_000
_SASS = ".target sm_90\nFunction : f\n"
_KERNEL = """\
.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.type f,@function
f:
{body}
.size f, 1
.amdhsa_kernel f
.end_amdhsa_kernel
{data}
.amdgpu_metadata
{metadata}
.end_amdgpu_metadata
"""


def kernel(body: str = "s_endpgm", data: str = "", metadata: str = "") -> str:
    """A module of RDNA3 assembly."""
    return _KERNEL.format(body=body, data=data, metadata=metadata)


def _refused(read: Callable[[str], object]) -> Callable[[str], object]:
    """``read``, for which a text that is refused as it should be is as good as any."""

    def reader(text: str) -> object:
        try:
            return read(text)
        except (LiftError, ValueError):
            return None

    return reader


def _sass(text: str) -> object:
    listing = sass.parse(_SASS + text)
    operands = [each.operands for f in listing.functions for each in f.instructions]
    return listing.render(), operands


def _lifter(text: str) -> object:
    code = CubinCode(_SASS + text)
    return [(section.instructions, section.leaders) for section in code.codes.values()]


def _rdna3(text: str) -> list[Any]:
    found: list[Any] = []
    for module in (rdna3.parse(kernel(text)), rdna3.parse(kernel(data=text))):
        found += [module.functions, module.variables, module.target]
        found += [(line.operands, line.mnemonics, line.comment) for line in module.lines]
        found += [module.labels(function) for function in module.functions.values()]
    return found


def _metadata(text: str) -> object:
    module = rdna3.parse(kernel(metadata=text))
    return [(each.arguments, each.lds_bytes) for each in module.kernels.values()]


def _inline(text: str) -> object:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return _RULES.translate(f'__device__ void f() {{ asm("{quoted}"); }}', filename="a.cu")


SCANNERS: dict[str, Callable[[str], object]] = {
    "SASS": _refused(_sass),
    "code to lift": _refused(_lifter),
    "listing to lift": _refused(lambda text: cubin_of(_SASS + text)),
    "RDNA3": _refused(_rdna3),
    "metadata": _refused(_metadata),
    "RDNA3 to PTX": _refused(lambda text: to_ptx(kernel(text))),
    "data to PTX": _refused(lambda text: to_ptx(kernel(data=text))),
    "inline PTX": _inline,
    "operands of inline PTX": lambda text: _RULES.translate(
        f'__device__ void f() {{ asm("nop;" : {text}); }}', filename="a.cu"
    ),
}

LINES = {
    "labels": "L{n}:\n",
    "labels with a dot": ".L{n}:\n",
    "labels of one name": "L:\n",
    "symbols in sections": ".section .text.f{n}\n",
    "functions": "Function : f{n}\n",
    "functions of one name": ".type g,@function\ng:\n.size g, 1\n",
    "branches": "BRA `(.L_{n});\n",
    "calls": "CALL.REL.NOINC `(.L_{n});\n.L_{n}:\nRET.REL.NODEC R2 `(f);\n",
    "variables": ".type v{n},@object\nv{n}:\n.long {n}\n.size v{n}, 4\n",
    "bytes of a variable": ".byte 1\n",
    "operands": "IADD3 R0, R1, c[0x0][0x160], R{n};\n",
    "instructions": "v_add_nc_u32_e32 v0, v1, v2\ns_cbranch_scc0 L{n}\n",
    "registers": ".reg .b32 %r{n};\n",
    "kernels": ".amdhsa_kernel k{n}\n.end_amdhsa_kernel\n",
    "comments in comments": "/*",
    "comments in quotes": '";" ',
    "quotes": '"\\',
    "entries": "amdhsa.kernels:\n  - .name: k{n}\n",
    "anchors": "- &a{n} [*a{n}]\n",
}
"""Pieces that a text repeats; ``{n}`` counts."""

LONG = {
    "commas": ("IADD3 R0", ", R1", ";"),
    "commas in brackets": ("IADD3 R0, [", ",R1", "];"),
    "open brackets": ("IADD3 R0", ", [", ";"),
    "closed brackets": ("IADD3 R0", ", ]", ";"),
    "modifiers": ("IADD3", ".X", " R0;"),
    "symbols on a line": ("IADD3 R0", ", `(.L_0)", ";\n.L_0:\nEXIT;"),
    "tables": ("BRX R0 -0x10 (", "`(.L_0), ", ");\n.L_0:\nEXIT;"),
    "annotations": ("BRX R0 -0x10 ", '(*"BRANCH_TARGETS .L_0"*)', ";"),
    "addresses": ("BRA ", "0x10 ", ";"),
    "blanks": ("IADD3", "  \t", "R0;"),
    "a number": ("IADD3 R0, 0x", "f", ";"),
    "a register": ("IADD3 R0, R", "9", ";"),
    "a sum": ("LDG.E R0, [R2", "+0x1", "];"),
    "an address": ("/*", "0", "*/ EXIT;"),
    "an operand": ("v_add_f32 v0, ", "-", "v1"),
    "a dual instruction": ("v_dual_mov_b32 v0, v1", " :: v_dual_mov_b32 v2, v3", ""),
    "a string": ('.ascii "', "\\141", '"'),
    "a number of digits": (".long ", "9", ""),
    "a directive": (".", "section", " f"),
    "a list of numbers": (".long 1", ", 2", ""),
    "lists in lists": ("a: ", "[", ""),
    "mappings in mappings": ("a: ", "{b: ", ""),
    "items in items": ("", "- ", "b"),
    "keys in keys": ("", "? ", "b"),
    "lists behind quoted brackets": ("a: ", "[']', ", ""),
    "parentheses": ("add.s32 r, ", "(", ";"),
    "braces": ("", "{", ""),
    "constraints": ("", '"=r"(a), ', '"=r"(b)'),
    "constraints in constraints": ("", '"=r"(', ""),
    "guards": ("", "@p ", "add.s32 r, 1, 2;"),
    "quotes that never end": (".ascii ", '"', ""),
}
"""A line: how it begins, what is repeated, how it ends."""


def cases() -> Iterator[tuple[str, str, Callable[[int], str]]]:
    """(reader, name of the text, the text of about so many characters)."""
    for reader in SCANNERS:
        for text, piece in LINES.items():
            yield reader, text, lambda size, piece=piece: lines(piece, size // len(piece))
        for text, parts in LONG.items():
            yield reader, text, lambda size, parts=parts: line(*parts, size)


def lines(piece: str, count: int) -> str:
    return "".join(piece.replace("{n}", str(n)) for n in range(count))


def line(beginning: str, repeated: str, end: str, size: int) -> str:
    return beginning + repeated * (size // len(repeated)) + end + "\n"


def main() -> None:
    """Print {scanner: {name of a long line: what it raised that it should not}}."""
    found: dict[str, dict[str, str]] = {}
    for scanner, read in SCANNERS.items():
        for text, parts in LONG.items():
            said = ""
            try:
                read(line(*parts, _LONGEST))
            except Exception as error:
                said = f"{type(error).__name__}: {str(error)[:200]}"
            found.setdefault(scanner, {})[text] = said
    print(json.dumps(found))


if __name__ == "__main__":
    main()
