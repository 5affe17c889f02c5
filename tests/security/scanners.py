"""What reads texts of strangers, and texts that would make it read them again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cass_ray.corpus.parsing.kernels import find_kernels
from cass_ray.corpus.parsing.lexer import significant_tokens
from cass_ray.corpus.parsing.normalize import normalize
from cass_ray.corpus.reading.includes import scan_includes
from cass_ray.corpus.screening.scrub import ScrubSettings, scrub
from cass_ray.execute.drivers.driver import drivable_kernels
from cass_ray.llm.code_blocks import code_of
from cass_ray.translate.repair.loop import repair
from cass_ray.translate.rules.engine import RulesTranslator
from cass_ray.translate.rules.reverse import HipToCudaTranslator

SIZES = (1000, 4000, 16_000)
"""Characters of the texts."""

_RULES = RulesTranslator()
_REVERSE = HipToCudaTranslator()

SCANNERS: dict[str, Callable[[str], object]] = {
    "rules": lambda text: _RULES.translate(text, filename="a.cu"),
    "reverse rules": lambda text: _REVERSE.translate(text, filename="a.hip"),
    "lexer": lambda text: list(significant_tokens(text)),
    "kernels": find_kernels,
    "normalization": normalize,
    "includes": lambda text: scan_includes("#include <a>\n" + text),
    "drivers": drivable_kernels,
    "code in answers": lambda text: code_of(f"//\n{text}", ["cuda"]),
    "repair": lambda text: repair(
        text, lambda source: text, filename="x.cu", attempts=1, propose=None
    ),
    "scrubbing": lambda text: scrub(f"/* {text.replace('*/', '')} */", ScrubSettings()),
}

TEXTS = {
    "calls of messages": "x.cu:1:1: error: no known conversion from '' (aka ",
    "errors of errors": "x.cu:1:1: error: use of undeclared identifier 'printf'\n",
    "raw strings that never end": 'R"(',
    "raw strings that never end, by name": 'R"a(',
    "raw strings with another end": 'R"a(x)b"',
    "raw strings behind a word": 'xR"(',
    "escaped quotes to the end": '"\\',
    "escaped apostrophes to the end": "'\\",
    "comments in comments": "/*",
    "header names that never end": "#include <a",
    "header names behind comments": "/**/#include <a",
    "architectures on joined lines": "__CUDA_ARCH__\\\n",
    "versions on joined lines": "#ifdef CUDART_VERSION\\\n",
    "conditions on one line": "#if __CUDA_ARCH__ < 700 ",
    "a type's name among operands": "cudaError + ",
    "kernels without an end": "__global__ ",
    "kernels inside parameters": "__global__ void f(",
    "attributes that never end": "__global__ __launch_bounds__(",
    "bodies that never end": "__global__ void f(float* extern) {",
    "calls that never end": "cudaMalloc(",
    "templates that never end": "a<",
    "assembly that never ends": 'asm("{',
    "assembly in operands": 'asm("a" : "=r"(',
    "macros on joined lines": "#define X(a) \\\n",
    "blank lines": "\n",
    "fences with blanks": "``` \t",
    "passwords of passwords": "password=",
    "web tokens of web tokens": "-eyJaaaaaaaaaa",
    "addresses": "8.8.8.8 ",
}

NESTS = {
    "calls in calls": ("min(a,", ")"),
    "subscripts in subscripts": ("min(a[", "], b)"),
    "casts in casts": ("max((int)(", "), b)"),
    "allocations in allocations": ("cudaMalloc(", ", n)"),
    "launches in launches": ("f<<<1, 1>>>(", ")"),
    "shuffles in shuffles": ("__shfl_sync(m, ", ", 1)"),
    "braces in braces": ("{", "}"),
    "conditions in conditions": ("#if 1\n", "#endif\n"),
}


def cases() -> Iterator[tuple[str, str, Callable[[int], str]]]:
    """(scanner, name of the text, the text of about so many characters)."""
    for text, part in TEXTS.items():
        for scanner in SCANNERS:
            yield scanner, text, lambda size, part=part: part * (size // len(part))
    for text, (opening, closing) in NESTS.items():
        for scanner in ("rules", "reverse rules", "drivers", "kernels"):
            yield scanner, text, lambda size, pair=(opening, closing): nested(*pair, size)


def nested(opening: str, closing: str, size: int) -> str:
    depth = size // len(opening + closing)
    return opening * depth + closing * depth
