"""CUDA's device functions one by one, as Nvidia computes them and as the translation does."""
