"""CUDA's libraries by the names that build files give them, and ROCm's in their place."""

from __future__ import annotations

LIBRARIES = {
    "cudart": "",
    "cudart_static": "",
    "cudadevrt": "",
    "cuda": "",
    "cublas": "hipblas",
    "cublasLt": "hipblaslt",
    "cufft": "hipfft",
    "curand": "hiprand",
    "cusparse": "hipsparse",
    "cusolver": "hipsolver",
    "nvrtc": "hiprtc",
    "nvToolsExt": "roctx64",
    "nccl": "rccl",
    "nvidia-ml": "rocm_smi64",
}
"""Library of CUDA -> library of ROCm; empty where hipcc links it without being asked."""
_MARKS = "${hip_LIB_INSTALL_DIR}/libroctx64.so"
"""ROCm's library has no CMake target, and its folder is not searched."""
TARGETS = {
    "cudart": "hip::host",
    "cudart_static": "hip::host",
    "cuda_driver": "hip::host",
    "cublas": "roc::hipblas",
    "cublas_static": "roc::hipblas",
    "cublasLt": "roc::hipblaslt",
    "cublasLt_static": "roc::hipblaslt",
    "cufft": "hip::hipfft",
    "cufft_static": "hip::hipfft",
    "curand": "hip::hiprand",
    "curand_static": "hip::hiprand",
    "cusparse": "roc::hipsparse",
    "cusparse_static": "roc::hipsparse",
    "cusolver": "roc::hipsolver",
    "cusolver_static": "roc::hipsolver",
    "nvrtc": "hiprtc::hiprtc",
    "nvrtc_static": "hiprtc::hiprtc",
    "nvToolsExt": _MARKS,
    "cudadevrt": "hip::host",
    "nvtx3": _MARKS,
}
"""CMake target ``CUDA::x`` -> ROCm's target."""
VARIABLES = {
    "CUDA_LIBRARIES": "hip::host",
    "CUDA_CUDART_LIBRARY": "hip::host",
    "CUDA_CUDA_LIBRARY": "hip::host",
    "CUDA_cudart_static_LIBRARY": "hip::host",
    "CUDA_CUBLAS_LIBRARIES": "roc::hipblas",
    "CUDA_cublas_LIBRARY": "roc::hipblas",
    "CUDA_CUFFT_LIBRARIES": "hip::hipfft",
    "CUDA_cufft_LIBRARY": "hip::hipfft",
    "CUDA_curand_LIBRARY": "hip::hiprand",
    "CUDA_cusparse_LIBRARY": "roc::hipsparse",
    "CUDA_cusolver_LIBRARY": "roc::hipsolver",
    "CUDA_nvrtc_LIBRARY": "hiprtc::hiprtc",
}
"""Variable that CMake's FindCUDA sets -> ROCm's target."""
PACKAGES = {
    "roc::hipblas": "hipblas",
    "roc::hipblaslt": "hipblaslt",
    "hip::hipfft": "hipfft",
    "hip::hiprand": "hiprand",
    "roc::hipsparse": "hipsparse",
    "roc::hipsolver": "hipsolver",
    "hiprtc::hiprtc": "hiprtc",
}
"""ROCm's target -> the CMake package that defines it."""
