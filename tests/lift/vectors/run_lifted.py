"""Run lifted forms of one code object on the RDNA3 backend; a line of JSON for each.

``python -m tests.lift.vectors.run_lifted CODE_OBJECT NAME ...`` is a process of its own, because a
kernel that faults ends it.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

from cass_ray.emulator.build import runtime_library
from tests.lift.vectors import recipes
from tests.lift.vectors.form import Form
from tests.lift.vectors.forms import all_forms


class HipError(Exception):
    """A call of the HIP runtime failed."""


class Hip:
    """The few calls of the HIP runtime that running a kernel needs."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(str(runtime_library()))
        self.library.hipGetErrorString.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            text = self.library.hipGetErrorString(status).decode()
            raise HipError(f"{name}: {text} ({status})")

    def load(self, code_object: bytes) -> ctypes.c_void_p:
        module = ctypes.c_void_p()
        self.call("hipModuleLoadData", ctypes.byref(module), code_object)
        return module

    def run(self, module: ctypes.c_void_p, form: Form) -> bytes:
        """The output memory that the form leaves."""
        source = ctypes.create_string_buffer(recipes.inputs(form.operands))
        size = recipes.LANES * recipes.OUTPUT_BYTES
        addresses = []
        for data in (source.raw[:-1], bytes([recipes.FILL]) * size):
            address = ctypes.c_void_p()
            self.call("hipMalloc", ctypes.byref(address), ctypes.c_size_t(len(data)))
            self.call("hipMemcpy", address, data, ctypes.c_size_t(len(data)), 1)
            addresses.append(address)
        function = ctypes.c_void_p()
        self.call("hipModuleGetFunction", ctypes.byref(function), module, form.name.encode())
        given = [*addresses, *map(ctypes.c_uint64, recipes.PARAMETERS)]
        pointers = (ctypes.c_void_p * len(given))(
            *(ctypes.cast(ctypes.pointer(item), ctypes.c_void_p) for item in given)
        )
        self.call("hipModuleLaunchKernel", function, *form.grid, 0, None, pointers, None)
        self.call("hipDeviceSynchronize")
        memory = ctypes.create_string_buffer(size)
        self.call("hipMemcpy", memory, addresses[1], ctypes.c_size_t(size), 2)
        for address in addresses:
            self.call("hipFree", address)
        return memory.raw


def main() -> None:
    """Command line."""
    path, *names = sys.argv[1:]
    hip = Hip()
    module = hip.load(Path(path).read_bytes())
    forms = all_forms()
    for name in names:
        form = forms[name]
        try:
            slots = recipes.slots(hip.run(module, form), form.result_words)
            stored = recipes.STORED_APPROXIMATE if form.ulp else form.kept
            sums = [] if form.ulp else recipes.checksums(slots, stored, form.floats)
            made = {"lanes": b"".join(slots[:stored]).hex(), "checksums": sums}
        except HipError as error:
            print(json.dumps({"name": name, "error": str(error)}), flush=True)
            sys.exit(0)  # errors of kernels stay
        print(json.dumps({"name": name, **made}), flush=True)


if __name__ == "__main__":
    main()
