"""Files from which a build, or a program of the project, makes others that it compiles."""

from __future__ import annotations

from pathlib import PurePosixPath

_OF_JINJA = frozenset({".j2", ".jinja", ".jinja2"})
_ENDINGS = _OF_JINJA | {".in", ".cuda", ".template", ".tmpl"}
"""Files with these endings are configured, linked or copied to the name without the ending."""


def is_template(name: str) -> bool:
    """Whether a build makes a file of another name, perhaps in another folder, of this one."""
    return PurePosixPath(name).suffix.lower() in _ENDINGS


def is_for_programs(name: str) -> bool:
    """Whether a program of Python makes another file of this one, beside what it copies there."""
    return PurePosixPath(name).suffix.lower() in _OF_JINJA


def made_from(name: str) -> str:
    """The name of the file that a build makes of the file ``name``."""
    return str(PurePosixPath(name).with_suffix("")) if is_template(name) else name
