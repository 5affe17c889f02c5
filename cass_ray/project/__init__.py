"""Whole projects from CUDA to HIP: translated, built as on ROCm, tested on the CPU backend."""
