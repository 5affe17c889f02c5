"""What a job over an archive is to do."""

from __future__ import annotations

from cass_ray.api.schema import Check
from cass_ray.config import StrictModel


class JobOrder(StrictModel):
    """What was asked, and by whom. ``archive`` is the archive's file name."""

    owner: str
    archive: str
    engine: str
    check: Check = Check.NONE
    repair: int = 0
