"""Schedulers of a wave: of its two warps, and of the lanes of a warp."""
