"""What nvdisasm does not read is an error of the lifter, with its message, in every command."""

from __future__ import annotations

import pytest

from cass_ray import lift
from cass_ray.toolchain.nvidia.disassembly import DisassemblyError
from cass_ray.toolchain.nvidia.elf import CubinError
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain


@pytest.mark.nvidia
@pytest.mark.amd
def test_a_cubin_that_nvdisasm_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(self: NvidiaToolchain, cubins: list[bytes]) -> list[str]:
        raise DisassemblyError("nvdisasm: unknown section")

    monkeypatch.setattr(NvidiaToolchain, "disassemble", refuses)
    with pytest.raises(lift.LiftError, match="unknown section"):
        lift.lift_cubin(b"\x7fELF")


def test_whoever_knows_a_damaged_cubin_knows_one_that_nvdisasm_refuses() -> None:
    assert issubclass(DisassemblyError, CubinError)
