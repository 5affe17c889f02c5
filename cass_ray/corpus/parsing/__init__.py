"""Source text without a compiler: tokens, kernels, normal form, shape. Imports nothing above it."""
