"""PyTorch extensions: built for AMD and run on the CPU backend, with any PyTorch.

``csrc`` gives PyTorch's CUDA device type HIP's memory and devices; PyTorch's own operators compute
on the CPU. ``startup`` is loaded by the interpreters that build and test a port. ``headers`` stand
in for those of libraries that are not installed.
"""
