"""Programs around kernels that come without ``main``: allocate, fill, launch, print."""
