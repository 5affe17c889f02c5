"""The arguments about equivalent mutants are about mutants that there are."""

from __future__ import annotations

from cass_ray.corpus.lexer import splice_lines
from cass_ray.execute.mutants import source_mutants
from cass_ray.execute.selftest import equivalent_mutants
from cass_ray.execute.shipped import shipped_subjects
from cass_ray.translate.registry import make_translator


def test_each_argument_is_about_a_mutant_of_a_shipped_program() -> None:
    subjects = {subject.name: subject for subject in shipped_subjects(make_translator())}
    for known in equivalent_mutants():
        sources = subjects[known.program].sources
        text = sources.files[str(sources.main)].decode("utf-8", "surrogateescape")
        lines = splice_lines(text).splitlines()
        about = [
            mutant
            for mutant in source_mutants(text)
            if mutant.fault is known.fault and known.line in lines[mutant.line - 1]
        ]
        assert about, (known.program, known.line)
