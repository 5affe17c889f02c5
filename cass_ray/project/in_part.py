"""Builds of which make could not build all: whether what was built is enough for the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cass_ray.project.build_system import BuildPlan
from cass_ray.project.counted_tests import found_no_tests
from cass_ray.project.missing import targets_left_out
from cass_ray.project.report import TargetResult
from cass_ray.project.steps import Step, StepOutcome, Workbench


def tested_in_part(
    bench: Workbench, plan: BuildPlan, build: Step, start_anew: Callable[[], None] | None
) -> TargetResult:
    """The result of a build that failed.

    make goes on where a target fails, so that the programs of the tests may be there. They count
    if they launch kernels and pass. What an earlier build left is no part of this one: where the
    tree may hold such, ``start_anew`` makes it as the port is, for one more build.
    """
    failed = TargetResult(bench.architecture, build, Step(plan.test, StepOutcome.SKIPPED))
    if build.outcome is not StepOutcome.FAILED or not plan.test or not targets_left_out(build.log):
        return failed
    if start_anew is not None:
        start_anew()
        build = bench.build(plan.build)
    tested = bench.test(plan.test)
    if not tested.step.passed or not tested.launches or found_no_tests(tested.step.log):
        return failed
    outcome = build.outcome if build.passed else StepOutcome.IN_PART
    return TargetResult(bench.architecture, replace(build, outcome=outcome), tested.step)
