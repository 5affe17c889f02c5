from cass_ray.corpus.generate.drills import drills
from cass_ray.translate.rules import RulesTranslator

NAMES = {
    "functions": ["cudaMalloc", "cudaStreamCreate"],
    "types": ["cudaStream_t"],
    "enumerators": ["cudaMemcpyHostToDevice"],
    "device": ["__dp4a"],
    "sizes": {"cudaMalloc": (2,), "cudaStreamCreate": (1,)},
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
