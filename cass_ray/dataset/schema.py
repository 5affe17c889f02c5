"""The aligned row: one program in CUDA and HIP, at source, host assembly and device assembly level.

``PAIR_SCHEMA`` and ``REJECT_SCHEMA`` are the Arrow schemas of ``pairs/*.parquet`` and
``rejects/*.parquet``. Column names follow the published CASS data set (MBZUAI/cass: ``filename,
cuda_source, cuda_host, cuda_device, hip_source, hip_host, hip_device``); the rest is ours.
"""

from __future__ import annotations

import pyarrow as pa

_TOOLCHAIN = pa.struct([("name", pa.string()), ("version", pa.string()), ("flags", pa.string())])
_LISTING = pa.struct([("arch", pa.string()), ("sass", pa.large_string())])
_LIFTED = pa.struct(
    [
        ("arch", pa.string()),
        ("rdna3", pa.large_string()),
        ("verified", pa.string()),
        ("diagnostic", pa.string()),
        ("only_lifted", pa.list_(pa.string())),
    ]
)
_RUN = pa.struct(
    [
        ("arguments", pa.list_(pa.string())),
        ("exact", pa.bool_()),
        ("numeric", pa.bool_()),
        ("max_error", pa.float64()),
        ("detail", pa.string()),
    ]
)
_EVIDENCE = pa.struct(
    [
        ("runs", pa.list_(_RUN)),
        ("reference", pa.string()),
        ("nvidia_backend", pa.string()),
        ("amd_backend", pa.string()),
        ("launches", pa.list_(pa.string())),
        ("tolerance", pa.string()),
        ("max_error", pa.float64()),
        ("coverage", pa.float64()),
        ("counters", pa.string()),
        ("grade", pa.string()),
        ("perturbations", pa.int64()),
    ]
)
_LIFTED_SIDE = pa.struct(
    [
        ("arch", pa.string()),
        ("stage", pa.string()),
        ("reason", pa.string()),
        ("diagnostic", pa.string()),
        ("only_lifted", pa.list_(pa.string())),
    ]
)
_DEVICE = pa.struct(
    [
        ("vendor", pa.string()),
        ("arch", pa.string()),
        ("device", pa.large_string()),
        ("toolchain", _TOOLCHAIN),
        ("verified", pa.string()),
        ("evidence", _EVIDENCE),
        ("diagnostic", pa.string()),
    ]
)

PAIR_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("filename", pa.string()),
        ("origin", pa.string()),
        ("repository", pa.string()),
        ("revision", pa.string()),
        ("license", pa.string()),
        ("path", pa.string()),
        ("domain", pa.string()),
        ("cuda_source", pa.large_string()),
        ("cuda_host", pa.large_string()),
        ("cuda_device", pa.large_string()),
        ("hip_source", pa.large_string()),
        ("hip_host", pa.large_string()),
        ("hip_device", pa.large_string()),
        ("opencl_source", pa.large_string()),
        ("cuda_arch", pa.list_(pa.string())),
        ("cuda_device_by_arch", pa.list_(_LISTING)),
        ("hip_arch", pa.string()),
        ("nvidia_toolchain", _TOOLCHAIN),
        ("amd_toolchain", _TOOLCHAIN),
        ("kernels", pa.list_(pa.string())),
        ("executed", pa.bool_()),
        ("verified", pa.string()),
        ("evidence", _EVIDENCE),
        ("cuda_device_tokens", pa.int64()),
        ("hip_device_tokens", pa.int64()),
        ("lifted", pa.list_(_LIFTED)),
        ("devices", pa.list_(_DEVICE)),
        ("portable", pa.bool_()),
        ("level", pa.string()),
        ("lifted_side", _LIFTED_SIDE),
    ]
)
"""``cuda_device`` is the SASS of the first architecture in ``cuda_arch`` (normalized);
``cuda_device_by_arch`` holds every architecture asked for, the first included. ``lifted`` is null
unless the settings ask for it: RDNA3 assembly made from the machine code of each architecture, for
the same ``hip_host``; empty, with the reason as ``diagnostic``, where it could not be lifted. Its
``only_lifted`` are the forms of instructions that are neither proven nor tested against a GPU.

``devices`` are further AMD architectures, null unless the settings name some: device assembly for
the same ``hip_source`` and ``hip_host``; where it does not compile or its output differs, empty or
not ``executed``, with the reason as ``diagnostic``. ``portable`` says of rows that were executed
for wavefronts of 32 and of 64 lanes whether both agree with the Nvidia side, and is null for
others.

``level`` is a :class:`~cass_ray.task.Level`: ``source`` where both sides are sources as well,
``assembly`` where only machine code is on both sides (OpenCL, and rows without a port); null in
older data sets, as good as ``source`` where ``hip_source`` is not empty. ``lifted_side`` is null
unless ``hip_device`` is the lifter's, made of the machine code for ``arch`` because the source has
no port: ``stage``, ``reason`` and ``diagnostic`` say what a reject would have said. Such rows have
neither ``hip_source`` nor ``hip_host``: the CUDA program's host code launches their kernels."""

REJECT_SCHEMA = pa.schema(
    [
        *PAIR_SCHEMA,
        ("stage", pa.string()),
        ("reason", pa.string()),
        ("diagnostic", pa.string()),
        ("duplicate_of", pa.string()),
    ]
)
