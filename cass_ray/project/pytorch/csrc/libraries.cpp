// Handles of AMD's libraries, and what PyTorch's CUDA part gives extensions and is not here.
#include "refused.hpp"

#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <hipblas/hipblas.h>

namespace at::cuda {

namespace {

template <class Function>
Function* symbol(void* library, const char* name) {
  void* const found = dlsym(library, name);
  TORCH_CHECK(found != nullptr, name, " is not in libhipblas.so");
  return reinterpret_cast<Function*>(found);
}

}  // namespace

hipblasHandle_t getCurrentCUDABlasHandle(bool) {
  static void* const library = dlopen("libhipblas.so", RTLD_NOW | RTLD_LOCAL);
  TORCH_CHECK(library != nullptr, "hipBLAS is not installed (`cass setup libraries`): ", dlerror());
  thread_local hipblasHandle_t handle = nullptr;
  if (handle == nullptr) {
    const hipblasStatus_t status =
        symbol<decltype(hipblasCreate)>(library, "hipblasCreate")(&handle);
    TORCH_CHECK(status == HIPBLAS_STATUS_SUCCESS, "hipblasCreate: status ", status);
  }
  symbol<decltype(hipblasSetStream)>(library, "hipblasSetStream")(
      handle, c10::cuda::getCurrentCUDAStream().stream());
  return handle;
}

hipblasLtHandle_t getCurrentCUDABlasLtHandle() { cass::refuse("a handle of hipBLASLt"); }
hipsparseHandle_t getCurrentCUDASparseHandle() { cass::refuse("a handle of hipSPARSE"); }
hipsolverDnHandle_t getCurrentCUDASolverDnHandle() { cass::refuse("a handle of hipSOLVER"); }

}  // namespace at::cuda
