"""cass-ray: CUDA and HIP programs as aligned, verified pairs at source and assembly level.

The library knows nothing of Ray jobs, Serve or actors and runs without a Ray cluster.
"""

__version__ = "0.1.0"
