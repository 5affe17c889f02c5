"""Lifting: SASS in a cubin, through per-thread LLVM IR, to RDNA3 assembly (docs/lift.md)."""
