"""The matrix: what happens to a build, and when."""

from __future__ import annotations

from pathlib import Path

from benchmarks.pipeline.faults.actions import (
    add_node,
    cut_link,
    enlarge_disk,
    fill_object_stores,
    freeze_node,
    kill_driver,
    kill_node,
    kill_worker,
    leave_debris,
    must_end,
    restart_head,
    resume,
    slow_node,
)
from benchmarks.pipeline.faults.build import SLOTS, Schedule
from benchmarks.pipeline.faults.weather import Weather
from cluster.local import NodePlan

TWO = (("nvidia", 2), ("amd", 2))
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")

_AN_HOUR_AHEAD = NodePlan(
    "ahead",
    SLOTS,
    {"amd": SLOTS},
    ("env", f"LD_PRELOAD={FAKETIME}", "FAKETIME=+1h"),
)
_WITHOUT_CLANG = NodePlan(
    "bare",
    SLOTS,
    {"amd": SLOTS},
    (
        *("unshare", "--mount", "bash", "-c"),
        'for each in /usr/lib/llvm-* /opt/rocm*; do [ ! -d "$each" ] || mount -t tmpfs none "$each"'
        '; done; exec "$@"',
        "bash",
    ),
)

WORKERS = {
    "worker_nvidia": Schedule(
        "a worker of CUDA's compiler killed, twice",
        ((0.1, kill_worker("NvidiaCompiler")), (0.5, kill_worker("NvidiaCompiler"))),
    ),
    "worker_amd": Schedule(
        "a worker of AMD's compiler killed, twice",
        ((0.1, kill_worker("AmdCompiler")), (0.5, kill_worker("AmdCompiler"))),
    ),
    "workers_all": Schedule(
        "a worker of any kind killed, six times",
        tuple((share, kill_worker("")) for share in (0, 0.1, 0.2, 0.4, 0.6, 0.8)),
    ),
    "threads": Schedule(
        "four rows a block; a worker killed",
        ((0.3, kill_worker("NvidiaCompiler")),),
        settings=("--set", "rows_per_block=4"),
    ),
}

NODES = {
    "node_nvidia": Schedule(
        "a node with nvcc lost and replaced", ((0.3, kill_node("nvidia", True)),)
    ),
    "node_amd": Schedule(
        "a node with AMD's clang lost, replaced", ((0.3, kill_node("amd", True)),)
    ),
    "nodes_both": Schedule(
        "one of two nodes of either kind lost for good",
        ((0.2, kill_node("nvidia", False)), (0.4, kill_node("amd", False))),
        TWO,
    ),
    "nodes_often": Schedule(
        "a node lost and replaced, four times",
        (
            (0.15, kill_node("nvidia", True)),
            (0.35, kill_node("amd", True)),
            (0.55, kill_node("nvidia", True)),
            (0.75, kill_node("amd", True)),
        ),
        TWO,
    ),
    "late_amd": Schedule(
        "a second node of AMD's joins late", ((0.3, add_node("amd")),), (("nvidia", 2), ("amd", 1))
    ),
    "no_amd": Schedule(
        "no node of AMD's: the build ends and says so; one joins, resumed",
        ((0.0, must_end("the resource `amd`")), (0.0, add_node("amd")), (0.0, resume)),
        (("nvidia", 1),),
        settings=("--set", "node_wait_seconds=15"),
    ),
    "no_amd_yet": Schedule(
        "no node of AMD's for the first minute",
        ((0.0, add_node("amd")),),
        (("nvidia", 1),),
        settings=("--set", "node_wait_seconds=300"),
    ),
    "no_toolchain": Schedule(
        "one of two nodes that offer `amd` has no clang", further=(_WITHOUT_CLANG,)
    ),
    "slow_nvidia": Schedule(
        "one of two nodes with nvcc gets a fifth of its time",
        ((0.0, slow_node("nvidia", 0.2)),),
        TWO,
    ),
    "frozen_nvidia": Schedule(
        "a node with nvcc answers nobody for 20 s", ((0.3, freeze_node("nvidia", 20)),), TWO
    ),
    "frozen_amd": Schedule(
        "a node of AMD's answers nobody for 60 s", ((0.3, freeze_node("amd", 60)),), TWO
    ),
    "clock_ahead": Schedule(
        "the clock of a node of AMD's is an hour ahead",
        further=(_AN_HOUR_AHEAD,),
        requires=(FAKETIME,),
    ),
    "link_cut": Schedule(
        "the link of a node with nvcc is cut for 8 s", ((0.3, cut_link("nvidia", 8)),), links=True
    ),
    "link_lost": Schedule(
        "the link of one of two nodes of AMD's is cut for 60 s",
        ((0.3, cut_link("amd", 60)),),
        TWO,
        links=True,
    ),
}

DRIVERS = {
    "driver_early": Schedule("the driver killed while it reads", ((0.0, kill_driver),)),
    "driver_late": Schedule("the driver killed near the end", ((0.9, kill_driver),)),
    "driver_often": Schedule(
        "the driver killed four times",
        tuple((share, kill_driver) for share in (0.2, 0.4, 0.6, 0.8)),
    ),
    "head": Schedule("the whole cluster lost and started anew", ((0.4, restart_head),)),
    "head_twice": Schedule(
        "the whole cluster lost twice", ((0.2, restart_head), (0.7, restart_head))
    ),
    "debris": Schedule(
        "parts that nobody committed, then the driver killed",
        ((0.3, leave_debris), (0.5, kill_driver)),
    ),
    "driver_and_node": Schedule(
        "driver and a node killed at once",
        ((0.4, kill_node("nvidia", True)), (0.4, kill_driver)),
        TWO,
    ),
    "worker_and_driver": Schedule(
        "a worker, then the driver, then a worker",
        ((0.2, kill_worker("Compiler")), (0.4, kill_driver), (0.6, kill_worker("Compiler"))),
    ),
    "everything": Schedule(
        "workers, nodes, the driver and the head",
        (
            (0.1, kill_worker("Compiler")),
            (0.25, kill_node("amd", True)),
            (0.4, kill_driver),
            (0.55, restart_head),
            (0.7, kill_node("nvidia", True)),
            (0.85, kill_worker("Compiler")),
        ),
        TWO,
    ),
}

STORAGE = {
    "storage": Schedule("S3 in place of a folder", storage=Weather()),
    "storage_refuses": Schedule(
        "S3; a fifth of the requests refused", storage=Weather(refused=0.2)
    ),
    "storage_forgets": Schedule(
        "S3; a tenth of the requests done and answered with 503", storage=Weather(lost=0.1)
    ),
    "storage_late": Schedule(
        "S3; a tenth of the answers 2 s late", storage=Weather(late=0.1, seconds=2)
    ),
    "storage_and_nodes": Schedule(
        "S3 with all of that; nodes and the driver killed",
        (
            (0.2, kill_node("nvidia", True)),
            (0.4, kill_driver),
            (0.6, kill_node("amd", True)),
        ),
        TWO,
        storage=Weather(refused=0.1, lost=0.05, late=0.02),
    ),
    "full_disk": Schedule(
        "the disk is full: the build ends and says so; space is made, resumed",
        ((1.0, must_end("No space left")), (0.0, enlarge_disk), (0.0, resume)),
        disk_kib=200,
    ),
    "object_stores": Schedule(
        "all but 20 MiB of every node's object store is somebody else's",
        ((0.0, fill_object_stores),),
        object_store_mib=80,
    ),
}

SCHEDULES = {**NODES, **STORAGE, **WORKERS, **DRIVERS}
