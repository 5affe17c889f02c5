"""Where programs run: a real GPU of either vendor, RDNA3 code on the CPU, HIP source on Nvidia."""
