from typing import Any

from cass_ray.translate.rules import RulesTranslator
from recipes.small.asm_programs.drills import drills

NAMES: Any = {
    "functions": ["cudaMalloc", "cudaStreamCreate"],
    "types": ["cudaStream_t"],
    "enumerators": ["cudaMemcpyHostToDevice"],
    "device": ["__dp4a"],
    "sizes": {"cudaMalloc": (2,), "cudaStreamCreate": (1,)},
    "headers": ["cuda_runtime.h", "device_launch_parameters.h", "curand_kernel.h"],
}


def test_a_seed_fixes_the_drills():
    assert list(drills(3, 1, **NAMES)) == list(drills(3, 1, **NAMES))
    assert list(drills(3, 1, **NAMES)) != list(drills(3, 2, **NAMES))


def test_the_rules_translate_all_of_inline_assembly_and_calls():
    rules = RulesTranslator()
    for source in drills(60, 0, **NAMES):
        translation = rules.translate(source)
        assert not translation.errors, (source, translation.errors)
        assert "asm" not in translation.source
        for name in ("cudaMalloc", "cudaStreamCreate", "cudaStream_t", "cudaMemcpyHostToDevice"):
            assert name not in translation.source


def test_every_header_is_included_in_many_ways():
    lines = {line for source in drills(200, 0, **NAMES) for line in source.splitlines()}
    for header in NAMES["headers"]:
        written = {line for line in lines if header in line}
        assert {f"#include <{header}>", f'#include "{header}"', f"// #include <{header}>"} < written


def test_no_include_of_cuda_is_left():
    rules = RulesTranslator()
    for source in drills(60, 1, **NAMES):
        for line in rules.translate(source).source.splitlines():
            if line.lstrip().startswith("#") and "include" in line:
                assert not any(header in line for header in NAMES["headers"]), line
