"""The small model of the tests of learning from rewards."""

from tests.train.rl.conftest import folder

__all__ = ["folder"]
