"""The model in training: built or loaded, attention, fused kernels, activation checkpoints."""
