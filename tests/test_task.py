"""Level and direction: columns of a pair, and names."""

import pytest

from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.task import TASKS, Direction, Level, Task, parse_task


def test_task_columns_exist_and_swap_with_the_direction():
    for task in TASKS:
        assert set(task.columns) <= set(PAIR_SCHEMA.names)
    there, back = (Task(Level.ASSEMBLY, direction).columns for direction in Direction)
    assert there == ("cuda_device", "hip_device") == back[::-1]


def test_names_are_parsed_and_the_nearest_is_named():
    assert [parse_task(str(task)) for task in TASKS] == list(TASKS)
    assert parse_task("assembly") == Task(Level.ASSEMBLY, Direction.CUDA_TO_HIP)
    with pytest.raises(ValueError, match="did you mean `source:hip-to-cuda`"):
        parse_task("source:hip-to-cud")
