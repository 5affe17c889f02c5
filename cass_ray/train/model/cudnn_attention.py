"""cuDNN's causal attention over several examples in one call (``nvidia-cudnn-frontend``).

PyTorch reaches these kernels only for examples of one length. A plan is made for each shape: a
number of examples and the longest one, both rounded up, so that a run needs few.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

EXAMPLES = 4
"""Plans are for multiples of so many examples; the last ones are empty …"""
LENGTH = 1024
"""… and for a longest example of a multiple of so many tokens."""

_Q, _K, _V, _O, _STATS, _GIVEN, _DQ, _DK, _DV, _SIZES = range(1, 11)
_OFFSETS = 100
"""A ragged tensor's offsets have its number and this."""


@dataclass(frozen=True)
class _Layout:
    """What a plan depends on."""

    device: int
    dtype: torch.dtype
    tokens: int
    """The most of a row; 0 forward, where a plan does not depend on it."""
    examples: int
    longest: int
    heads: int
    groups: int
    """Heads of keys and values."""
    width: int
    strides: tuple[tuple[int, ...], ...]
    """Strides of query, key, value (tokens, heads, width)."""
    scale: float
    alone: bool
    """One example, which is the row."""


def available() -> bool:
    """Whether the package is installed and finds cuDNN."""
    try:
        import cudnn

        return bool(cudnn.backend_version())
    except (ImportError, OSError, RuntimeError):
        return False


_here = threading.local()


def _handle(device: torch.device) -> Any:
    """cuDNN's handle of this thread for ``device``, on the current stream."""
    import cudnn

    handles: dict[int, Any] = _here.__dict__.setdefault("handles", {})
    index = device.index or 0
    if index not in handles:
        handles[index] = cudnn.create_handle()
    cudnn.set_stream(handles[index], torch.cuda.current_stream(device).cuda_stream)
    return handles[index]


@lru_cache(maxsize=4096)
def _offsets(lengths: tuple[int, ...], step: int, device: torch.device) -> torch.Tensor:
    """Where examples begin and the last ends, in elements of a tensor of ``step`` a token.

    Raises ``ValueError`` beyond 2^31 elements, which cuDNN does not count.
    """
    ends = torch.tensor([0, *lengths]).cumsum(0) * step
    if int(ends[-1]) >= 2**31:
        raise ValueError(
            f"cuDNN's attention counts to 2^31 elements, a row has {int(ends[-1])}: "
            "shorter rows, or `model.attention: flash`"
        )
    return ends.int().to(device, non_blocking=True)


@lru_cache(maxsize=1024)
def _sizes(lengths: tuple[int, ...], device: torch.device) -> torch.Tensor:
    return torch.tensor(lengths, dtype=torch.int32).to(device, non_blocking=True)


def _rounded(lengths: tuple[int, ...]) -> tuple[int, ...]:
    """``lengths`` with empty examples at the end, as plans count them."""
    return lengths + (0,) * (-len(lengths) % EXAMPLES)


def _layout(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    lengths: tuple[int, ...],
    scale: float,
    tokens: int = 0,
) -> _Layout:
    if query.dtype not in (torch.bfloat16, torch.float16):
        raise TypeError(f"cuDNN's attention takes bf16 and fp16, not {query.dtype}")
    alone = len(lengths) == 1
    return _Layout(
        query.device.index or 0,
        query.dtype,
        tokens,
        1 if alone else len(_rounded(lengths)),
        lengths[0] if alone else -(-max(lengths) // LENGTH) * LENGTH,
        query.shape[1],
        key.shape[1],
        query.shape[2],
        tuple(tuple(item.stride()) for item in (query, key, value)),
        scale,
        alone,
    )


class _Builder:
    """A graph of cuDNN's for a layout, and its tensors."""

    def __init__(self, layout: _Layout, handle: Any) -> None:
        import cudnn

        self.layout, self.handle, self.cudnn = layout, handle, cudnn
        self.kind = (
            cudnn.data_type.BFLOAT16 if layout.dtype == torch.bfloat16 else cudnn.data_type.HALF
        )
        self.graph = cudnn.pygraph(
            io_data_type=self.kind,
            intermediate_data_type=cudnn.data_type.FLOAT,
            compute_data_type=cudnn.data_type.FLOAT,
            handle=handle,
        )
        self.offsets: dict[int, Any] = {}

    def _offset(self, number: int) -> Any:
        """Offsets of the ragged tensor ``number``."""
        if number not in self.offsets:
            self.offsets[number] = self.graph.tensor(
                dim=[self.layout.examples + 1, 1, 1, 1],
                stride=[1, 1, 1, 1],
                data_type=self.cudnn.data_type.INT32,
                name=f"offsets of {number}",
                uid=_OFFSETS + number,
            )
        return self.offsets[number]

    def _places(self, heads: int, stride: tuple[int, ...], width: int) -> dict[str, list[int]]:
        """Sizes and strides (examples, heads, tokens, width)."""
        longest = self.layout.longest
        return {
            "dim": [self.layout.examples, heads, longest, width],
            "stride": [longest * stride[0], stride[1], stride[0], stride[2]],
        }

    def given(self, number: int, heads: int, stride: tuple[int, ...]) -> Any:
        """An input."""
        ragged = None if self.layout.alone else self._offset(number)
        places = self._places(heads, stride, self.layout.width)
        return self.graph.tensor(
            **places, data_type=self.kind, ragged_offset=ragged, name=f"{number}", uid=number
        )

    def _statistics(self) -> dict[str, list[int]]:
        """Sizes and strides: by token where examples lie end to end, else by head."""
        heads, longest = self.layout.heads, self.layout.longest
        inner = [longest, 1] if self.layout.alone else [1, heads]
        return {
            "dim": [self.layout.examples, heads, longest, 1],
            "stride": [longest * heads, *inner, 1],
        }

    def given_statistics(self) -> Any:
        """The logarithm of each softmax's sum, an input."""
        return self.graph.tensor(
            **self._statistics(),
            data_type=self.cudnn.data_type.FLOAT,
            ragged_offset=None if self.layout.alone else self._offset(_STATS),
            name="statistics",
            uid=_STATS,
        )

    def makes(self, tensor: Any, number: int, heads: int) -> None:
        """``tensor`` is an output, dense by token."""
        width = self.layout.width
        self._makes(tensor, number, self._places(heads, (heads * width, width, 1), width))

    def makes_statistics(self, tensor: Any) -> None:
        """``tensor`` is the output that :meth:`given_statistics` takes."""
        self._makes(tensor, _STATS, self._statistics())
        tensor.set_data_type(self.cudnn.data_type.FLOAT)

    def _makes(self, tensor: Any, number: int, places: dict[str, list[int]]) -> None:
        tensor.set_output(True).set_uid(number).set_dim(places["dim"]).set_stride(places["stride"])
        if not self.layout.alone:
            tensor.set_ragged_offset(self._offset(number))

    def mask(self) -> dict[str, Any]:
        """Causal within each example."""
        options: dict[str, Any] = {
            "attn_scale": self.layout.scale,
            "diagonal_alignment": self.cudnn.diagonal_alignment.TOP_LEFT,
            "diagonal_band_right_bound": 0,
        }
        if not self.layout.alone:
            sizes = self.graph.tensor(
                dim=[self.layout.examples, 1, 1, 1],
                stride=[1, 1, 1, 1],
                data_type=self.cudnn.data_type.INT32,
                name="sizes",
                uid=_SIZES,
            )
            options |= {"use_padding_mask": True, "seq_len_q": sizes, "seq_len_kv": sizes}
        return options

    def build(self) -> tuple[Any, int]:
        """The plan, and the bytes that it works in."""
        self.graph.validate()
        self.graph.build_operation_graph()
        self.graph.create_execution_plans([self.cudnn.heur_mode.A, self.cudnn.heur_mode.FALLBACK])
        self.graph.check_support()
        self.graph.build_plans()
        return self.graph, self.graph.get_workspace_size()


_plans: dict[tuple[str, _Layout], tuple[Any, int]] = {}


def _forward_plan(layout: _Layout, handle: Any) -> tuple[Any, int]:
    if ("forward", layout) not in _plans:
        builder, at = _Builder(layout, handle), layout.strides
        out, statistics = builder.graph.sdpa(
            q=builder.given(_Q, layout.heads, at[0]),
            k=builder.given(_K, layout.groups, at[1]),
            v=builder.given(_V, layout.groups, at[2]),
            is_inference=False,
            name="attention",
            **builder.mask(),
        )
        builder.makes(out, _O, layout.heads)
        builder.makes_statistics(statistics)
        _plans["forward", layout] = builder.build()
    return _plans["forward", layout]


def _backward_plan(
    layout: _Layout, given: tuple[int, ...], out: tuple[int, ...], handle: Any
) -> tuple[Any, int]:
    name = f"backward {given} {out}"
    if (name, layout) not in _plans:
        builder, at = _Builder(layout, handle), layout.strides
        options = builder.mask()
        if not layout.alone:
            options |= {"max_total_seq_len_q": layout.tokens}
            options |= {"max_total_seq_len_kv": layout.tokens}
        gradients = builder.graph.sdpa_backward(
            q=builder.given(_Q, layout.heads, at[0]),
            k=builder.given(_K, layout.groups, at[1]),
            v=builder.given(_V, layout.groups, at[2]),
            o=builder.given(_O, layout.heads, out),
            dO=builder.given(_GIVEN, layout.heads, given),
            stats=builder.given_statistics(),
            name="attention backward",
            **options,
        )
        heads = (layout.heads, layout.groups, layout.groups)
        for tensor, number, count in zip(gradients, (_DQ, _DK, _DV), heads, strict=True):
            builder.makes(tensor, number, count)
        _plans[name, layout] = builder.build()
    return _plans[name, layout]


def _run(
    plan: tuple[Any, int],
    tensors: dict[int, torch.Tensor],
    lengths: tuple[int, ...],
    alone: bool,
    handle: Any,
) -> None:
    device = tensors[_Q].device
    pointers = {number: tensor.data_ptr() for number, tensor in tensors.items()}
    keep: list[torch.Tensor] = []
    if not alone:
        whole = _rounded(lengths)
        keep.append(_sizes(whole, device))
        pointers[_SIZES] = keep[-1].data_ptr()
        for number, tensor in tensors.items():
            keep.append(_offsets(whole, tensor.stride(0), device))
            pointers[_OFFSETS + number] = keep[-1].data_ptr()
    space = torch.empty(max(plan[1], 1), dtype=torch.uint8, device=device)
    plan[0].execute(pointers, space.data_ptr(), handle=handle)


def forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    lengths: tuple[int, ...],
    scale: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of (tokens, heads, width) in and out, and its statistics: (tokens, heads), fp32."""
    handle = _handle(query.device)
    layout = _layout(query, key, value, lengths, scale)
    out = torch.empty(query.shape, dtype=query.dtype, device=query.device)
    statistics = torch.empty(query.shape[:2], dtype=torch.float32, device=query.device)
    tensors = {_Q: query, _K: key, _V: value, _O: out, _STATS: statistics}
    _run(_forward_plan(layout, handle), tensors, lengths, layout.alone, handle)
    return out, statistics


def backward(
    given: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    statistics: torch.Tensor,
    lengths: tuple[int, ...],
    scale: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of query, key and value, dense."""
    handle = _handle(query.device)
    total = -(-query.shape[0] // 4096) * 4096
    layout = _layout(query, key, value, lengths, scale, total)
    gradients = [
        torch.empty(item.shape, dtype=item.dtype, device=item.device)
        for item in (query, key, value)
    ]
    tensors = {_Q: query, _K: key, _V: value, _O: out, _GIVEN: given, _STATS: statistics}
    tensors |= dict(zip((_DQ, _DK, _DV), gradients, strict=True))
    plan = _backward_plan(layout, tuple(given.stride()), tuple(out.stride()), handle)
    _run(plan, tensors, lengths, layout.alone, handle)
    return gradients[0], gradients[1], gradients[2]
