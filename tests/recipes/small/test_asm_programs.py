"""Files of inline PTX: the rules translate them, and Nvidia's compiler takes them."""

import random
import re
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.rules import RulesTranslator
from recipes.small.asm_programs.blocks import of_form
from recipes.small.asm_programs.files import Kernel, grafted, ptx_file, ptx_files
from recipes.small.asm_programs.forms import EFFECTS, GROUPS, Form
from recipes.small.asm_programs.functions import Names, wrapped

RULES = RulesTranslator()
FORMS = [form for name, group in GROUPS.items() if name != "choices" for form in group]
# A predicate is no operand of a statement: these stand in chains alone.
FORMS += EFFECTS


def function_of(form: Form, chance: random.Random, names: Names) -> str:
    return "\n".join(wrapped(chance, names, of_form(chance, form)).lines)


def test_a_seed_fixes_the_files():
    assert list(ptx_files(3, 1)) == list(ptx_files(3, 1))
    assert list(ptx_files(3, 1)) != list(ptx_files(3, 2))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.opcode)
def test_the_rules_translate_every_form(form):
    chance = random.Random(form.opcode)
    for _ in range(12):  # other choices of the form
        source = function_of(form, chance, Names(chance))
        translation = RULES.translate(source)
        assert not translation.errors, (source, translation.errors)
        assert not re.search(r"\basm\b|__asm", translation.source)


def test_the_rules_translate_whole_files():
    for source in ptx_files(60, 0):
        translation = RULES.translate(source)
        assert not translation.errors, (source, translation.errors)
        assert not re.search(
            r"\basm\b|__asm|cuda(?:Malloc|Graph|Free)|CUDART_CB", translation.source
        )


def compile_cuda(source: str, folder: Path) -> None:
    (folder / "main.cu").write_text(source)
    find_nvidia().compile(Unit(folder, PurePosixPath("main.cu"), (PurePosixPath("."),)))


def test_the_vendors_assembler_takes_every_form(tmp_path):
    chance = random.Random(7)
    names = Names(chance)
    functions = [wrapped(chance, names, of_form(chance, form)) for form in FORMS]
    lines = ["#include <cstdint>", "#include <cstdio>"]
    lines += [line for made in functions for line in made.lines]
    compile_cuda("\n".join([*lines, *Kernel(chance, names, functions).lines()]), tmp_path)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_vendors_compiler_takes_whole_files(seed, tmp_path):
    compile_cuda(ptx_file(random.Random(f"ptx 5 {seed}")), tmp_path)


def test_functions_are_grafted_behind_the_includes():
    source = (
        "#include <cstdio>\n#include <cuda_runtime.h>\n#ifdef A\n#include <cmath>\n#endif\n"
        "int main() { return 0; }\n"
    )
    made = grafted(random.Random(3), source)
    assert made is not None
    place = source.index("#ifdef")
    assert made.startswith(source[: place - 1])
    assert made.endswith(source[place - 1 :])
    assert "asm" in made[place - 1 : len(made) - len(source[place - 1 :])]


def test_a_file_without_includes_has_no_place_for_functions():
    assert grafted(random.Random(3), "int main() { return 0; }\n") is None
