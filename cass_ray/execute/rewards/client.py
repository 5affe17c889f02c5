"""A client of ``cass reward serve``: a :class:`Rewarder` that asks over HTTP.

    with RewardClient("http://rewards:8100", key="cass_…") as client:
        verdicts = client.rewards([RewardItem(question=cuda, answer=text)])

The key comes from ``$CASS_REWARDS_KEY`` where none is given.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import httpx2 as httpx
from pydantic import TypeAdapter

from cass_ray.execute.rewards.verdicts import (
    LARGEST_BATCH,
    RewardItem,
    RewardVerdict,
)

URL_VARIABLE, KEY_VARIABLE = "CASS_REWARDS_URL", "CASS_REWARDS_KEY"
_VERDICTS = TypeAdapter(list[RewardVerdict])
_RETRIED = frozenset({429, 502, 503})
_ATTEMPTS = 6


class RewardServerError(Exception):
    """The server refused a batch, or cannot be reached."""


class RewardClient:
    """May be used from several threads."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        seconds: float = 1800.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        key = key or os.environ.get(KEY_VARIABLE, "")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(
            base_url=url, headers=headers, timeout=seconds, transport=transport
        )
        self._sleep = sleep

    def __enter__(self) -> RewardClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def rewards(self, items: Sequence[RewardItem]) -> list[RewardVerdict]:
        """A verdict for each of ``items``, in their order.

        A server that is busy or away for a moment is asked again. Raises ``RewardServerError``.
        """
        verdicts: list[RewardVerdict] = []
        for first in range(0, len(items), LARGEST_BATCH):
            verdicts += self._batch(items[first : first + LARGEST_BATCH])
        return verdicts

    def _batch(self, items: Sequence[RewardItem]) -> list[RewardVerdict]:
        body = {"items": [item.model_dump(mode="json") for item in items]}
        said = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._sleep(min(30.0, 2.0**attempt))
            try:
                answer = self._http.post("/v1/rewards", json=body)
            except httpx.TransportError as error:
                said = str(error) or type(error).__name__
                continue
            if answer.status_code == httpx.codes.OK:
                verdicts = _VERDICTS.validate_python(answer.json()["verdicts"])
                if len(verdicts) != len(items):
                    raise RewardServerError(
                        f"{len(verdicts)} verdicts for {len(items)} answers: another server?"
                    )
                return verdicts
            said = f"{answer.status_code}: {answer.text[:300]}"
            if answer.status_code not in _RETRIED:
                break
        raise RewardServerError(f"{self._http.base_url}: {said}")
