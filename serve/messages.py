"""What the service says, without what is nobody's business: where its files lie."""

from __future__ import annotations

import functools
import re
import sys
import tempfile
from pathlib import Path

from cass_ray.api.schema import CompileReport, ExecutionReport
from cass_ray.cache import default_directory, results_directory

_SYSTEM = ("/usr", "/opt", "/home", "/root", "/tmp", "/var", "/srv", "/mnt", "/dev/shm")


@functools.cache
def _paths() -> re.Pattern[str]:
    folders = (Path.home(), tempfile.gettempdir(), sys.prefix, sys.base_prefix)
    ours = (default_directory(), results_directory(), Path(__file__).parents[1], Path.cwd())
    roots = {*_SYSTEM, *map(str, folders), *map(str, ours)} - {"/"}
    named = "|".join(re.escape(root) for root in sorted(roots, key=len, reverse=True))
    return re.compile(rf"(?<![\w./])((?:-[ILB]|-isystem)?)(?:{named})(/[^\s'\":;,()<>|]*+)")


def without_paths(text: str) -> str:
    """``text`` with the names of this machine's files in place of their paths.

    Of a header what is behind ``include`` stays: ``hip/hip_runtime.h``.
    """
    return _paths().sub(lambda match: match[1] + _name(match[2]), text)


def _name(path: str) -> str:
    *_, behind = path.rstrip("/").rpartition("/include/")
    return behind if behind != path.rstrip("/") else behind.rpartition("/")[2]


def told_compile(report: CompileReport) -> CompileReport:
    """``report`` as a client sees it."""
    diagnostics = [
        each.model_copy(update={"message": without_paths(each.message)})
        for each in report.diagnostics
    ]
    output = without_paths(report.output)
    return report.model_copy(update={"diagnostics": diagnostics, "output": output})


def told_execution(report: ExecutionReport) -> ExecutionReport:
    """``report`` as a client sees it; what programs print is theirs and stays."""
    texts = {name: without_paths(getattr(report, name)) for name in ("problem", "weakness")}
    lists = {
        name: [without_paths(each) for each in getattr(report, name)]
        for name in ("passed_over", "findings", "device_faults")
    }
    return report.model_copy(update={**texts, **lists})
