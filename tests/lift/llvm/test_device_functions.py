"""Calls of device functions are those of the functions that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.lift import fingerprint
from cass_ray.lift.errors import CompilerFailure
from cass_ray.lift.llvm import device_functions
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX


def test_each_function_is_read() -> None:
    """As many as the sources say they have, with what their authors wrote."""
    source = device_functions.SOURCE.decode()
    named, families = device_functions.signatures(source)
    exported = source.count('extern "C" __device__') + source.count("\nPRINTING ")
    assert len(named) + len(families) == exported - 1  # that of PRINTING itself is no function
    assert named["barrier_round"] == ("i32", "i32", "i32")
    assert named["barrier_arrive"][0] == "i64"
    assert named["print_text"] == ("i64", "i64", "i64", "i32")
    assert families["warpgroup_"][:2] == ("void", "ptr")
    assert len(families["warpgroup_sparse_"]) == len(families["warpgroup_"]) + 2


@pytest.mark.parametrize(
    "declared",
    [
        "i32 @{}barrier_round(i32, i32)",
        "i64 @{}print_begin()",
        "void @{}warpgroup_f16(ptr, i32, i32, i32, i32, i64, i64, i32, i32, i32, i32)",
        "void @{}warpgroup_f16(ptr addrspace(5), i32, i32, i32, i32, i64, i64, i32, i32, i32, i32)",
    ],
)
def test_right_calls_are_let_through(declared: str) -> None:
    device_functions.check_calls(f"declare {declared.format(SUPPORT_PREFIX)}\n")


@pytest.mark.parametrize(
    "declared",
    [
        "i32 @{}barrier_round(i32)",
        "i32 @{}barrier_round(i32, i64)",
        "void @{}barrier_round(i32, i32)",
        "void @{}warpgroup_sparse_f16(ptr, i32, i32, i32, i32, i64, i64, i32, i32, i32, i32)",
        "void @{}warpgroup_f16(ptr addrspace(5), i32, i32, i32, i32, i64, i64, i32, i32, i32)",
        "void @{}nothing()",
    ],
)
def test_wrong_calls_are_refused(declared: str) -> None:
    """LLVM links them, with whatever is in the registers of what is missing."""
    with pytest.raises(CompilerFailure, match=f"{SUPPORT_PREFIX}\\w+ is called as"):
        device_functions.check_calls(f"declare {declared.format(SUPPORT_PREFIX)}\n")


def test_sources_are_those_of_the_import(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that changes under a running process gets neither into its code nor into its keys."""
    before = fingerprint()
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"another file")
    assert fingerprint() == before
    assert b"another file" not in device_functions.SOURCE
