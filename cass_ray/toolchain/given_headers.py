"""Headers of ours that a unit is given in front of its text, by what its compiler says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from cass_ray.toolchain.unit import Unit

NEWER_STANDARD = "c++20"
_OF_NEWER = (
    r"(?:same_as|derived_from|convertible_to|common_with|(?:signed_|unsigned_)?integral|floating_point"
    r"|(?:equality|totally)_(?:comparable|ordered)(?:_with)?|(?:regular_)?invocable|predicate"
    r"|(?:default_|copy_|move_)?(?:initializable|constructible|assignable)(?:_from)?|(?:semi)?regular"
    r"|movable|copyable|type_identity(?:_t)?|remove_cvref(?:_t)?|bit_(?:cast|ceil|floor|width)"
    r"|has_single_bit|popcount|count[lr]_(?:zero|one)|rot[lr]|endian|span|ranges|views|numbers"
    r"|midpoint|source_location|is_constant_evaluated|jthread|latch|bind_front|to_address"
    r"|(?:strong|weak|partial)_ordering)"
)
_WORDS_OF_NEWER = "(?:concept|requires|constinit|consteval)"
_ASKS_FOR_NEWER = re.compile(
    rf"error: identifier \"{_WORDS_OF_NEWER}\" is undefined"
    rf"|error: this declaration has no storage class or type specifier\n\s*{_WORDS_OF_NEWER}\b"
    rf"|error: unknown type name '{_WORDS_OF_NEWER}'"
    rf"|error: a type specifier is required for all declarations\n[^\n]*\|\s*{_WORDS_OF_NEWER}\b"
    r"|error: an operator name must be declared as a function\n[^\n]*\boperator\s*<=>"
    r"|error: 'operator<=' cannot be the name of a variable or data member\n[^\n]*\boperator\s*<=>"
    rf"|error: (?:name followed by \"::\" must be a class or namespace name"
    rf"|qualified name is not allowed)\n[^\n]*\bstd::{_OF_NEWER}\b"
    rf"|error: namespace \"std\" has no member(?: class)? \"{_OF_NEWER}\""
    rf"|error: no (?:member|template|type) named '{_OF_NEWER}' in namespace 'std'"
)


def asks_for_newer_standard(diagnostic: str) -> bool:
    """Whether what a compiler says in C++17 is about something that C++20 has."""
    return _ASKS_FOR_NEWER.search(diagnostic) is not None


def with_headers(
    unit: Unit, diagnostic: str, needed: Mapping[str, re.Pattern[str]], folders: Iterable[Path]
) -> Unit | None:
    """``unit`` with the headers before it that ``diagnostic`` asks for, which lie in ``folders``,
    or as C++20.

    ``needed`` has what a compiler says of a unit that needs a header, by its name. None: there is
    nothing that the unit was not given before.
    """
    if not unit.standard and asks_for_newer_standard(diagnostic):
        return replace(unit, standard=NEWER_STANDARD)
    asked = [
        name
        for name, says in needed.items()
        if name not in unit.forced and says.search(diagnostic) is not None
    ]
    if not asked:
        return None
    directories = tuple(dict.fromkeys((*unit.system_directories, *folders)))
    return replace(unit, system_directories=directories, forced=(*asked, *unit.forced))


def contents(folders: Iterable[Path]) -> Iterator[bytes]:
    """Read all headers in ``folders``, for keys of caches."""
    for folder in folders:
        for path in sorted(folder.rglob("*.h*")):
            yield path.read_bytes()
