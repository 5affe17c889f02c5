"""SkyRL's environment of one turn (skyrl-gym 0.4): a program in, its translation out.

    skyrl_gym.register("cass", "cass_ray.execute.rewards.skyrl:TranslationEnv")

The task is ``reward_spec["ground_truth"]``, as :func:`~cass_ray.execute.rewards.adapters.item_of`
reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from cass_ray.execute.rewards.adapters import default_rewarder, item_of

try:
    _base: Any = import_module("skyrl_gym.envs.base_text_env").BaseTextEnv
except ImportError as _error:
    raise ImportError(f"{_error}: pip install skyrl-gym") from None


class TranslationEnv(_base):  # type: ignore[misc]
    """Rewards the first answer and ends."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        del env_config
        self._task = (extras or {})["reward_spec"]["ground_truth"]

    def step(self, action: str) -> dict[str, Any]:
        """The reward of an answer. SkyRL knows no undecided ones: 0, and the metadata say so."""
        [verdict] = default_rewarder().rewards([item_of(self._task, action)])
        metadata = {
            "outcome": verdict.outcome.value,
            "decided": verdict.reward is not None,
            "reason": verdict.reason,
        }
        return {
            "observations": [],
            "reward": verdict.reward or 0.0,
            "done": True,
            "metadata": metadata,
        }
