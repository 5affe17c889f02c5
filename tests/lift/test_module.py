"""Errors of lifting a module."""

from __future__ import annotations

from cass_ray.lift.errors import UnknownForm


def test_an_error_names_form_address_and_kernel() -> None:
    error = UnknownForm("@!P0 FOO.BAR R1, R2", "no such thing").at(
        "@!P0 FOO.BAR R1, R2", "_Z1kv", 0x40
    )
    assert error.form == "FOO.BAR"
    assert (error.kernel, error.address) == ("_Z1kv", 0x40)
    assert "_Z1kv at 0x0040" in str(error)
