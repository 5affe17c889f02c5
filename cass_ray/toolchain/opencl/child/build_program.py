"""clBuildProgram in a process of its own: SOURCE OPTIONS VENDOR -> the program's binary on stdout.

For NVIDIA's driver the binary is PTX text for the device's architecture. Stands alone, so that a
sandbox needs to show it no more than Python. Exit codes: 0 done, 1 the program does not build (the
driver's log is on stderr), 3 no driver or device of that vendor.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from pathlib import Path

# Constants of cl.h (Khronos OpenCL 1.2).
_DEVICE_TYPE_ALL = 0xFFFFFFFF
_PLATFORM_VENDOR = 0x0903
_PROGRAM_BINARY_SIZES = 0x1165
_PROGRAM_BINARIES = 0x1166
_PROGRAM_BUILD_LOG = 0x1183


class NoDeviceError(Exception):
    """No driver, or no device of the vendor."""


class BuildError(Exception):
    """The driver's build log."""


def _library() -> ctypes.CDLL:
    name = ctypes.util.find_library("OpenCL") or "libOpenCL.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise NoDeviceError(str(error)) from None
    for function in ("clCreateContext", "clCreateProgramWithSource"):
        getattr(library, function).restype = ctypes.c_void_p
    return library


def _text(query: object, subject: ctypes.c_void_p, name: int, *between: ctypes.c_void_p) -> str:
    """A string property: its size first, then its bytes."""
    size = ctypes.c_size_t()
    query(subject, *between, name, 0, None, ctypes.byref(size))  # type: ignore[operator]
    buffer = ctypes.create_string_buffer(size.value + 1)
    query(subject, *between, name, size, buffer, None)  # type: ignore[operator]
    return buffer.value.decode("utf-8", "replace")


def _device(library: ctypes.CDLL, vendor: str) -> ctypes.c_void_p:
    count = ctypes.c_uint()
    if library.clGetPlatformIDs(0, None, ctypes.byref(count)) or not count.value:
        raise NoDeviceError("no OpenCL platform")
    platforms = (ctypes.c_void_p * count.value)()
    library.clGetPlatformIDs(count, platforms, None)
    for platform in map(ctypes.c_void_p, platforms):
        if vendor.lower() in _text(library.clGetPlatformInfo, platform, _PLATFORM_VENDOR).lower():
            device = ctypes.c_void_p()
            kind = ctypes.c_ulong(_DEVICE_TYPE_ALL)
            if library.clGetDeviceIDs(platform, kind, 1, ctypes.byref(device), None) == 0:
                return device
    raise NoDeviceError(f"no OpenCL device of {vendor}")


def build(source: bytes, options: str, vendor: str) -> bytes:
    """The binary of ``source``. Raises :class:`NoDeviceError` and :class:`BuildError`."""
    library = _library()
    device = _device(library, vendor)
    status = ctypes.c_int()
    devices = (ctypes.c_void_p * 1)(device)
    context = ctypes.c_void_p(
        library.clCreateContext(None, 1, devices, None, None, ctypes.byref(status))
    )
    if status.value:
        raise NoDeviceError(f"clCreateContext: error {status.value}")
    text = (ctypes.c_char_p * 1)(source)
    length = (ctypes.c_size_t * 1)(len(source))
    program = ctypes.c_void_p(
        library.clCreateProgramWithSource(context, 1, text, length, ctypes.byref(status))
    )
    failed = status.value or library.clBuildProgram(
        program, 1, devices, options.encode(), None, None
    )
    if failed:
        log = _text(library.clGetProgramBuildInfo, program, _PROGRAM_BUILD_LOG, device)
        raise BuildError(log.strip() or f"clBuildProgram: error {failed}")
    return _binary(library, program)


def _binary(library: ctypes.CDLL, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    width = ctypes.c_size_t(ctypes.sizeof(size))
    library.clGetProgramInfo(program, _PROGRAM_BINARY_SIZES, width, ctypes.byref(size), None)
    buffer = ctypes.create_string_buffer(size.value)
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(buffer))
    width = ctypes.c_size_t(ctypes.sizeof(pointers))
    library.clGetProgramInfo(program, _PROGRAM_BINARIES, width, pointers, None)
    return buffer.raw


def main(arguments: list[str]) -> int:
    """Build a file with options on a device of a vendor: the three arguments."""
    path, options, vendor = arguments
    try:
        binary = build(Path(path).read_bytes(), options, vendor)
    except NoDeviceError as error:
        print(error, file=sys.stderr)
        return 3
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.buffer.write(binary)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
