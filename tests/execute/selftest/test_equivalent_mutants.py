"""The arguments about equivalent mutants are about mutants that there are."""

from __future__ import annotations

from cass_ray.bench.task import TASKS_FOLDER, load_tasks
from cass_ray.corpus.parsing.lexer import splice_lines
from cass_ray.execute.selftest.mutants import Fault, source_mutants
from cass_ray.execute.selftest.selftest import equivalent_mutants
from cass_ray.execute.shipped import shipped_subjects
from cass_ray.translate.engines.registry import make_translator


def test_each_argument_is_about_a_mutant_of_a_program_or_task() -> None:
    programs = {subject.name: subject.sources for subject in shipped_subjects(make_translator())}
    programs |= {task.name: task.hip for task in load_tasks(TASKS_FOLDER)}
    for known in equivalent_mutants():
        if known.fault in (
            Fault.ASM_BARRIER,
            Fault.ASM_OPERAND,
        ):  # of compiled code: test_barriers.py
            continue
        sources = programs[known.program]
        text = sources.files[str(sources.main)].decode("utf-8", "surrogateescape")
        lines = splice_lines(text).splitlines()
        about = [
            mutant
            for mutant in source_mutants(text)
            if mutant.fault is known.fault and known.line in lines[mutant.line - 1]
        ]
        assert about, (known.program, known.line)
