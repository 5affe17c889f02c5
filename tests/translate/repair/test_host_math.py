"""Host code that calls ``isnan`` and the like without ``std::``; the messages are clang 19's."""

from __future__ import annotations

import pytest

from cass_ray.translate.repair.loop import apply_fixes, diagnostics

NONE = "no matching function for call to '{}'"
OTHER_SIDE = "reference to __device__ function '{}' in __host__ function"


@pytest.mark.parametrize("message", [NONE, OTHER_SIDE])
@pytest.mark.parametrize(
    ("line", "name", "expected"),
    [
        ("if (isnan(a[i])) f();", "isnan", "if (std::isnan(a[i])) f();"),
        ("return !isfinite (x);", "isfinite", "return !std::isfinite (x);"),
        ("bool b = isinf(x);", "isinf", "bool b = std::isinf(x);"),
        ("int s = signbit(x);", "signbit", "int s = std::signbit(x);"),
        ("modf(r, &whole);", "modf", "std::modf(r, &whole);"),
        ("return x.isnan(y);", "isnan", "return x.isnan(y);"),
        ("return own::isnan(y);", "isnan", "return own::isnan(y);"),
        ("return isnans(y);", "isnans", "return isnans(y);"),
    ],
)
def test_the_standard_librarys_is_called(message: str, line: str, name: str, expected: str) -> None:
    log = f"a.h:1:{line.index(name) + 1}: error: {message.format(name)}\n"
    made, _ = apply_fixes(f"{line}\n", diagnostics(log))
    assert made.endswith(f"{expected}\n")


def test_each_call_of_a_line() -> None:
    line = "if (isnan(a) || isnan(b)) f();\n"
    log = "".join(f"a.h:1:{column}: error: {NONE.format('isnan')}\n" for column in (5, 17))
    made, _ = apply_fixes(line, diagnostics(log))
    assert made == "if (std::isnan(a) || std::isnan(b)) f();\n"
