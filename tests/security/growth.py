"""Two or three tokens again and again: the CPU time of the rules as such a text grows.

``python -m tests.security.growth [--all]`` prints the texts whose time grows faster than their
length, one a line. Beside :mod:`tests.security.work` this sees what an expression reads again and
again inside of one match. A ratio of CPU times decides, of a process that has nothing else to do,
each the least of several.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from cass_ray.translate.rules.engine import RulesTranslator
from cass_ray.translate.rules.reverse import HipToCudaTranslator

LENGTH = 2000
"""Characters of the short texts; the long ones have four times as many."""
_NOTICED_SECONDS = 0.02
"""What takes less, at four times the length, is not looked at again."""
_MOST_GROWTH = 7.0
"""In linear time it is four times as much, in quadratic time sixteen times."""
_REPEATED = 3
_SAMPLE = 125
"""Pairs, and triples, that are tried unless all pairs are asked for; then four times as many."""

_PUNCTUATION = (
    *("(", ")", "{", "}", "[", "]", "<", ">", "<<", ">>", "<<<", ">>>", ";", ",", ":", "::", "."),
    *("->", "=", "+", "&", "*", "#", "##", '"', "'", "$", "@", "é", "0", "1.5f", "x"),
)
_OPAQUE = ("/*", "*/", "//", 'R"(', ')"', "\\\n", "\n", " ", "\t", "\r\n", "'a", ">> >", "<< <")
_DIRECTIVES = ("#if ", "#if __CUDA_ARCH__ ", "#define X ", "#include <", "#else\n", "#endif\n")
_WORDS = (
    *("template", "template<", "typename ", "operator", "namespace a{", "struct A{", "using "),
    *("register ", "return ", "if(", "for(", 'extern "C" ', "typedef ", "auto ", "const "),
    *("__global__ ", "__device__ ", "__shared__ ", "__launch_bounds__(", "__CUDA_ARCH__ "),
    *("min(", "half2(", "__half ", "float4 ", "cudaMalloc(", "cudaMemcpy", "__shfl_sync("),
    *("__ballot_sync", "threadIdx", "warpSize", "thread_block ", "tiled_partition<", "cg::"),
    *("tex2D(", "texture<float", "surf2Dread(", "curand_init(", "printf(", "cub::", "thrust::"),
    *("cuda::std::", "at::", "->data<", "asm(", 'asm("', '"=r"(', "__syncthreads();"),
)
TOKENS = (*_PUNCTUATION, *_OPAQUE, *_DIRECTIVES, *_WORDS)

_RULES, _REVERSE = RulesTranslator(), HipToCudaTranslator()


def translated(text: str) -> None:
    """Both directions."""
    _RULES.translate(text, filename="a.cu")
    _REVERSE.translate(text, filename="a.hip")


def texts(everything: bool = False) -> Iterator[tuple[str, ...]]:
    """Tokens that are repeated together: all pairs, or a sample of pairs and triples.

    In the sample each token meets what hides text, which are the longest gaps that rules look over.
    """
    yield from itertools.product(TOKENS, ("/*", " "))
    if everything:
        yield from itertools.product(TOKENS, TOKENS)
    chosen = random.Random(53)
    for length in (2, 3):
        for _ in range(_SAMPLE * (4 if everything else 1)):
            yield tuple(chosen.choice(TOKENS) for _ in range(length))


def growing(
    parts: Iterable[Sequence[str]], scan: Callable[[str], object]
) -> Iterator[tuple[str, float]]:
    """What takes more than linear time, and how much more four times the length takes."""
    for part in parts:
        text = "".join(part)
        if _seconds(scan, text, 4 * LENGTH, 1) < _NOTICED_SECONDS:
            continue
        ratio = min(_ratios(scan, text))
        if ratio > _MOST_GROWTH:
            yield text, ratio


def _ratios(scan: Callable[[str], object], text: str) -> Iterator[float]:
    """Up to the first that is linear: on a busy machine one of them may not be."""
    for times in (1, _REPEATED, _REPEATED):
        long = _seconds(scan, text, 4 * LENGTH, times)
        yield (ratio := long / _seconds(scan, text, LENGTH, _REPEATED))
        if ratio <= _MOST_GROWTH:
            return


def _seconds(scan: Callable[[str], object], part: str, length: int, times: int) -> float:
    text = part * (length // len(part))
    least = float("inf")
    for _ in range(times):
        began = time.process_time()
        scan(text)
        least = min(least, time.process_time() - began)
    return least


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", help="All pairs, beside the sample.")
    translated("int a;\n" * 1000)
    for text, ratio in growing(texts(parser.parse_args().all), translated):
        print(f"{text!r}: {ratio:.1f} times as much", flush=True)


if __name__ == "__main__":
    main()
