"""HIP's headers and device libraries on machines without ROCm."""
