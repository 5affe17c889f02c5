"""Presents the CPU backend's devices to PyTorch, as PyTorch for ROCm presents AMD's cards.

Runs in the interpreter that builds or tests a port, which may have any PyTorch. Its CUDA device
type becomes HIP's: ``CASS_TORCH_BACKEND`` is the library that does it for tensors, see
``../csrc``; here are ``torch.cuda`` and ``torch.utils.cpp_extension``. The sources of a port are
HIP already, so that PyTorch's own translator has nothing to do.
"""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

_BACKEND = "CASS_TORCH_BACKEND"
_INCLUDE = "CASS_TORCH_INCLUDE"
_HIP_VERSION = "CASS_TORCH_HIP_VERSION"
_TREE = "CASS_PRECOMPILED"
"""A folder in the tree of the port."""

_PACKAGES = ("torchvision",)
"""Installed packages with operators of their own, each in a namespace of its name."""


@dataclass(frozen=True)
class _Action:
    """What happens before and after a module's own code runs."""

    before: Callable[[], None]
    after: Callable[[Any], None]


class _Around(importlib.abc.MetaPathFinder):
    """Finds modules as Python does; some get an action around them when they are loaded."""

    def __init__(self, actions: dict[str, _Action]) -> None:
        self._actions = actions

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        action = self._actions.get(name)
        if action is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, action)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: Any, action: _Action) -> None:
        self._loader, self._action = loader, action

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._action.before()
        self._loader.exec_module(module)
        self._action.after(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def wait_for_torch() -> None:
    """Act when ``torch`` and its builder of extensions are imported."""
    if os.environ.get(_BACKEND):
        actions = {
            "torch": _Action(_load, present),
            "torch.utils.cpp_extension": _Action(_nothing, build_for_hip),
            **{name: _Action(_nothing, take_over) for name in _PACKAGES},
        }
        sys.meta_path.insert(0, _Around(actions))


def _nothing() -> None:
    """Before a module is loaded."""


def take_over(package: Any) -> None:
    """Let the CPU compute operators of a package that was built for CUDA.

    A port of that package has kernels of its own.
    """
    tree = Path(os.environ[_TREE]).parent
    if not Path(package.__file__).resolve().is_relative_to(tree):
        ctypes.CDLL(os.environ[_BACKEND]).cass_torch_take_over(package.__name__.encode())


def _load() -> None:
    """PyTorch asks for the hooks of CUDA while it is imported: ours are there before."""
    ctypes.CDLL(os.environ[_BACKEND])


def present(torch: Any) -> None:
    """Make the devices of HIP's runtime those of ``torch.cuda``."""
    torch.version.hip = os.environ[_HIP_VERSION]
    torch.version.cuda = None
    if rocm := os.environ.get("ROCM_PATH"):  # whose package of CMake's is for HIP
        torch.utils.cmake_prefix_path = f"{rocm}/lib/cmake"
    backend = ctypes.CDLL(os.environ[_BACKEND])
    backend.cass_torch_start()
    backend.cass_torch_properties.restype = ctypes.c_char_p
    devices = Devices(backend)
    for name, function in devices.functions().items():
        setattr(torch.cuda, name, function)
        if hasattr(torch.cuda.random, name):  # it has imported some of them
            setattr(torch.cuda.random, name, function)
    # The backend takes the first generator of a device for its default one.
    torch.cuda.default_generators = tuple(
        torch.Generator(device=f"cuda:{index}") for index in range(torch.cuda.device_count())
    )
    torch.cuda.Stream = Stream
    torch.cuda.Event = Event
    if not hasattr(torch._C, "_cuda_getCurrentRawStream"):  # torch.compile imports it by name
        torch._C._cuda_getCurrentRawStream = lambda device: Stream.cuda_stream


def build_for_hip(extension: Any) -> None:
    """Let ``CUDAExtension`` compile a port's files as they are, with headers of HIP's names."""
    from torch.utils.hipify import hipify_python

    translation: Any = hipify_python
    translation.hipify = with_own_headers
    extension.library_paths = with_old_argument(extension.library_paths)
    paths = with_old_argument(extension.include_paths)
    extension.include_paths = lambda *given, **named: [
        os.environ[_INCLUDE],
        *paths(*given, **named),
    ]


def with_own_headers(*_: Any, extra_files: Sequence[str] = (), **__: Any) -> dict[str, Any]:
    """In the place of PyTorch's translation: nothing but the two headers of CUDA's that
    ``load_inline`` puts before a port's text."""
    for name in extra_files:
        path = Path(name)
        if path.name != "cuda.cu":
            continue
        text = path.read_text()
        for header in ("cuda.h", "cuda_runtime.h"):
            text = text.replace(f"#include <{header}>\n", "#include <hip/hip_runtime.h>\n", 1)
        path.write_text(text)
    return {}


def with_old_argument(paths: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """``paths`` that takes ``cuda=True``, too: ``device_type="cuda"`` since PyTorch 2.7."""
    if "cuda" in inspect.signature(paths).parameters:
        return paths

    def renewed(*given: Any, **named: Any) -> list[str]:
        if named.pop("cuda", False):
            named["device_type"] = "cuda"
        return paths(*given, **named)

    return renewed


class Devices:
    """The functions of ``torch.cuda`` that concern devices; ``backend`` is the C++ part."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def functions(self) -> dict[str, Any]:
        """Name in ``torch.cuda`` -> function."""
        nothing = {
            "_lazy_init",
            "empty_cache",
            "ipc_collect",
            "reset_peak_memory_stats",
            "reset_max_memory_allocated",
            "init",
            "set_stream",
        }
        zero = {
            "memory_allocated",
            "max_memory_allocated",
            "memory_reserved",
            "max_memory_reserved",
        }
        return {
            **dict.fromkeys(nothing, lambda *_, **__: None),
            **dict.fromkeys(zero, lambda *_, **__: 0),
            # A PyTorch built without CUDA looks for no place of ROCm where the last one is false.
            **dict.fromkeys(("is_available", "is_initialized", "_is_compiled"), lambda: True),
            # Functions of Python's: PyTorch keeps them in sets, which ctypes' can't be in.
            "device_count": lambda: int(self._backend.cass_torch_device_count()),
            "current_device": lambda: int(self._backend.cass_torch_current_device()),
            "set_device": lambda device: self._exchange(_index(device)) and None,
            "_exchange_device": self._exchange,
            "_maybe_exchange_device": self._exchange,
            "synchronize": lambda device=None: self._backend.cass_torch_synchronize(),
            "mem_get_info": self._memory,
            "get_device_properties": self._properties,
            "get_device_name": lambda device=None: self._properties(device).name,
            "get_device_capability": self._capability,
            "is_bf16_supported": lambda *_, **__: True,
            "get_arch_list": lambda: [self._properties().gcnArchName],
            "current_stream": lambda device=None: Stream(),
            "default_stream": lambda device=None: Stream(),
        }  # fmt: skip

    def _exchange(self, device: int) -> int:
        before = int(self._backend.cass_torch_exchange_device(device))
        if before < -1:
            raise RuntimeError(f"invalid device ordinal {device}")
        return before

    def _memory(self, device: Any = None) -> tuple[int, int]:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        before = self._exchange(_index(device))
        known = self._backend.cass_torch_memory(ctypes.byref(free), ctypes.byref(total))
        self._exchange(before)
        if not known:
            raise RuntimeError("the device's memory is not known")
        return free.value, total.value

    def _properties(self, device: Any = None) -> SimpleNamespace:
        index = _index(device)
        text = self._backend.cass_torch_properties(index)
        return SimpleNamespace(**json.loads(text))

    def _capability(self, device: Any = None) -> tuple[int, int]:
        properties = self._properties(device)
        return properties.major, properties.minor


def _index(device: Any) -> int:
    """A device as ``torch.cuda`` takes it; -1 is the current one."""
    if device is None:
        return -1
    if isinstance(device, int):
        return device
    text = str(device)
    return int(text.partition(":")[2]) if ":" in text else -1


class Stream:
    """The default stream: in this process all work of Python's side is in its order."""

    cuda_stream = 0
    priority = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        import torch

        self.device_index = torch.cuda.current_device()
        self.device = torch.device("cuda", self.device_index)

    def synchronize(self) -> None:
        import torch

        torch.cuda.synchronize()

    def query(self) -> bool:
        self.synchronize()
        return True

    def wait_stream(self, stream: Stream) -> None:
        """In order already."""

    def wait_event(self, event: Event) -> None:
        """In order already."""

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was changed."""


class Event:
    """A moment at which all work before it had ended."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._seconds: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        (stream or Stream()).synchronize()
        self._seconds = time.perf_counter()

    def synchronize(self) -> None:
        """It has passed."""

    def wait(self, stream: Stream | None = None) -> None:
        """It has passed."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to ``end``."""
        if self._seconds is None or end._seconds is None:
            raise RuntimeError("both events must be recorded before their distance is asked for")
        return 1000.0 * (end._seconds - self._seconds)
