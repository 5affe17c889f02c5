"""Matrix products with SwiGLU in their epilogue (Hopper and later; package ``quack-kernels``).

A gate and what it multiplies lie side by side: columns 2i and 2i+1 of a product are gate and up of
the i-th number of the MLP's width, so that the thread which has one has the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any

import torch

MULTIPLE = 8
"""Of which both sides of a weight have to be a multiple: 16 bytes, for copies by TMA."""

_ROUNDS = 8


@dataclass(frozen=True)
class Tile:
    """What a thread block computes at a time, and how blocks share the work."""

    rows: int
    columns: int
    pingpong: bool = False
    """Two warpgroups with a tile each, the epilogue of one under the products of the other; else
    they share a tile."""
    dynamic: bool = False
    """Blocks take the next tile when they are done, instead of every n-th."""

    def __str__(self) -> str:
        words = ("pingpong" if self.pingpong else "cooperative", "dynamic" if self.dynamic else "")
        return " ".join([f"{self.rows}x{self.columns}", *filter(None, words)])


FORWARD = (Tile(128, 192, pingpong=True), Tile(128, 128, pingpong=True), Tile(128, 256))
BACKWARD = (
    Tile(128, 128, pingpong=True),
    Tile(128, 192, pingpong=True),
    Tile(128, 128, pingpong=True, dynamic=True),
)
"""Those worth trying on Hopper; which is the fastest depends on the sizes."""


def problem(device: torch.device) -> str:
    """Why there are no such products on ``device``; the empty string where there are."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < (9, 0):
        return "needs a Hopper GPU or a later one"
    try:
        _package()
    except ImportError as error:
        return f"needs the package quack-kernels (pip install quack-kernels): {error}"
    return ""


def multiply_gated(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """``x @ weight.T`` (tokens, 2 * width), interleaved, and ``silu(gate) * up`` of it."""
    product = x.new_empty(x.shape[0], weight.shape[0])
    gated = x.new_empty(x.shape[0], weight.shape[0] // 2)

    def run(tile: Tile | None) -> None:
        _package().gemm_gated(
            x,
            weight.t(),
            activation="swiglu",
            preact_out=product,
            postact_out=gated,
            **_options(tile),
        )

    run(_tile(FORWARD, x, weight, run))
    return product, gated


def multiply_gated_backward(
    given: torch.Tensor, down: torch.Tensor, product: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradient of ``product`` (tokens, 2 * width), and what ``down`` multiplied, made again.

    Args:
        given: gradient of ``silu(gate) * up @ down.T``.
        down: (model's width, MLP's width).
        product: of :func:`multiply_gated`.
    """
    gradient = torch.empty_like(product)
    gated = product.new_empty(product.shape[0], product.shape[1] // 2)

    def run(tile: Tile | None) -> None:
        _package().gemm_dgated(
            given,
            down,
            product,
            activation="swiglu",
            dx_out=gradient,
            postact_out=gated,
            **_options(tile),
        )

    run(_tile(BACKWARD, given, down, run))
    return gradient, gated


@cache
def _package() -> Any:
    return import_module("quack.gemm_interface")


@cache
def _options(tile: Tile | None) -> dict[str, Any]:
    """How the package is told a tile; None: it takes its own for this GPU."""
    if tile is None:
        return {"tuned": False}
    config = import_module("quack.gemm_config").GemmConfig(
        tile_m=tile.rows,
        tile_n=tile.columns,
        pingpong=tile.pingpong,
        cluster_m=2,
        cluster_n=1,
        is_dynamic_persistent=tile.dynamic,
    )
    return {"config": config, "dynamic_scheduler": tile.dynamic}


_fastest: dict[tuple[Any, ...], Tile] = {}


def chosen_tiles() -> dict[str, str]:
    """The tile of each product so far, by its weight's sides and (at least) its rows."""
    return {
        f"{sides[0]}x{sides[1]}, {rows} rows": str(tile)
        for (_, rows, sides, _), tile in _fastest.items()
    }


def _tile(
    tiles: tuple[Tile, ...],
    rows: torch.Tensor,
    weight: torch.Tensor,
    run: Callable[[Tile | None], None],
) -> Tile | None:
    """The fastest of ``tiles`` for products of about these sizes, measured the first time."""
    if torch.cuda.get_device_capability(rows.device)[0] != 9:
        return None
    key = (tiles, 1 << (rows.shape[0].bit_length() - 1), tuple(weight.shape), rows.device)
    if key not in _fastest:
        seconds = measured(tiles, run, partial(_milliseconds, rows.device))
        _fastest[key] = min(tiles, key=lambda tile: seconds[tile])
    return _fastest[key]


def measured(
    tiles: tuple[Tile, ...],
    run: Callable[[Tile], None],
    clock: Callable[[Callable[[], None]], float],
) -> dict[Tile, float]:
    """Time of each tile by ``clock``, in turns, so that the GPU's clock and heat are alike."""
    for tile in tiles:
        run(tile)  # compiled here
    total = dict.fromkeys(tiles, 0.0)
    for _ in range(_ROUNDS):
        for tile in tiles:
            total[tile] += clock(partial(run, tile))
    return total


def _milliseconds(device: torch.device, work: Callable[[], None]) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    stream = torch.cuda.current_stream(device)
    begin.record(stream)
    work()
    end.record(stream)
    end.synchronize()
    taken: float = begin.elapsed_time(end)
    return taken
