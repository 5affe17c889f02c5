// Tensors of the device type that PyTorch calls CUDA: their memory is HIP's, an operator of
// PyTorch's own is computed by its CPU kernel. Kernels of an extension find device memory.
#include "operators.hpp"

#include "fallback.hpp"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/set_native.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <hip/hip_runtime_api.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cass {

namespace {

constexpr c10::DispatchKeySet kDeviceKeys(c10::DispatchKey::CUDA);

// Bytes from a tensor's first element to behind its last one.
size_t span(const at::Tensor& tensor) {
  return at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(),
                                          tensor.dtype().itemsize());
}

// A tensor of the CPU with the same elements, laid out as they are.
at::Tensor on_cpu(const at::Tensor& tensor) {
  if (!tensor.is_cuda()) return tensor;
  const size_t bytes = span(tensor);
  const auto elements = static_cast<int64_t>(bytes / tensor.dtype().itemsize());
  const at::Tensor memory = at::empty({elements}, tensor.options().device(at::kCPU));
  if (bytes != 0) {
    C10_CUDA_CHECK(
        hipMemcpy(memory.mutable_data_ptr(), tensor.const_data_ptr(), bytes, hipMemcpyDefault));
  }
  return memory.as_strided(tensor.sizes(), tensor.strides());
}

void check_layout(std::optional<at::Layout> layout, std::optional<bool> pinned) {
  TORCH_CHECK(c10::layout_or_default(layout) == at::Layout::Strided,
              "only dense tensors are on the CPU backend's devices");
  TORCH_CHECK(!c10::pinned_memory_or_default(pinned), "only memory of the host can be pinned");
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type,
                 std::optional<at::Layout> layout, std::optional<at::Device> device,
                 std::optional<bool> pinned, std::optional<at::MemoryFormat> format) {
  check_layout(layout, pinned);
  const c10::cuda::CUDAGuard guard(c10::device_or_default(device));
  return at::detail::empty_generic(size, c10::GetAllocator(at::kCUDA), kDeviceKeys,
                                   c10::dtype_or_default(type), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         std::optional<at::ScalarType> type, std::optional<at::Layout> layout,
                         std::optional<at::Device> device, std::optional<bool> pinned) {
  check_layout(layout, pinned);
  const c10::cuda::CUDAGuard guard(c10::device_or_default(device));
  return at::detail::empty_strided_generic(size, stride, c10::GetAllocator(at::kCUDA), kDeviceKeys,
                                           c10::dtype_or_default(type));
}

at::Tensor& copy(at::Tensor& self, const at::Tensor& source, bool) {
  const at::Tensor given = on_cpu(source);
  if (!self.is_cuda()) return self.copy_(given);
  const size_t bytes = span(self);
  if (bytes == 0) return self;
  // What lies between the elements of a view stays.
  const at::Tensor target = on_cpu(self);
  target.copy_(given);
  C10_CUDA_CHECK(
      hipMemcpy(self.mutable_data_ptr(), target.const_data_ptr(), bytes, hipMemcpyDefault));
  return self;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& target) {
  target.resize_(self.sizes());
  at::Tensor(target).copy_(self);
  return target;
}

const at::Tensor& resize(const at::Tensor& self, at::IntArrayRef size,
                         std::optional<at::MemoryFormat> format) {
  auto* const tensor = self.unsafeGetTensorImpl();
  if (self.sizes() == size) {  // a view stays one: results are written to it through this
    if (format.has_value()) tensor->empty_tensor_restride(*format);
    return self;
  }
  const size_t item = self.dtype().itemsize();
  const auto offset = static_cast<size_t>(self.storage_offset());
  const size_t bytes = (offset + static_cast<size_t>(c10::multiply_integers(size))) * item;
  auto* const storage = self.storage().unsafeGetStorageImpl();
  if (bytes > storage->nbytes()) {
    c10::DataPtr memory = c10::GetAllocator(at::kCUDA)->allocate(bytes);
    if (storage->nbytes() != 0) {
      C10_CUDA_CHECK(hipMemcpy(memory.get(), storage->data(), storage->nbytes(), hipMemcpyDefault));
    }
    storage->set_data_ptr_noswap(std::move(memory));
    storage->set_nbytes(bytes);
  }
  tensor->set_sizes_contiguous(size);
  if (format.has_value()) tensor->empty_tensor_restride(*format);
  return self;
}

at::Scalar item(const at::Tensor& self) {
  return at::native::_local_scalar_dense_cpu(on_cpu(self));
}

void record_stream(at::Tensor&, c10::Stream) {}

at::Tensor& set_to_nothing(at::Tensor& self) {
  const c10::cuda::CUDAGuard guard(self.device());
  const c10::Storage nothing(c10::Storage::use_byte_size_t(), 0, c10::GetAllocator(at::kCUDA),
                             /*resizable=*/true);
  return self.set_(nothing, 0, {0}, {});
}

// Neither reads nor writes an element: sizes, strides and the storage alone. The CPU's kernel
// serves tensors of devices as they are; a copy there would be other memory than the tensor's.
bool handles_no_element(const c10::OperatorHandle& name) {
  const std::string full = c10::toString(name.operator_name());
  return is_view(name.schema()) || full == "aten::set_.source_Tensor" ||
         full == "aten::set_.source_Storage" || full == "aten::is_set_to";
}

void by_its_cpu_kernel(const c10::OperatorHandle& name, torch::jit::Stack* stack) {
  name.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
}

struct Quiet final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

// PyTorch's operators that handle no element: one without CUDA has no kernel of them for devices.
void take_over_views(torch::Library& library) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getRegistrationsForDispatchKey(c10::DispatchKey::CPU)) {
    const std::string full = c10::toString(name);
    const auto found = dispatcher.findSchema(name);
    if (full.rfind("aten::", 0) == 0 && found && handles_no_element(*found))
      library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&by_its_cpu_kernel>());
  }
}

// Operators of the namespace `space` with a kernel for CUDA, except for `own` and those that
// handle no element.
void give_to_the_cpu(torch::Library& library, const std::string& space,
                     c10::ArrayRef<std::string_view> own) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getRegistrationsForDispatchKey(c10::DispatchKey::CUDA)) {
    const std::string full = c10::toString(name);
    if (full.rfind(space + "::", 0) != 0) continue;
    if (std::find(own.begin(), own.end(), full) != own.end()) continue;
    const auto found = dispatcher.findSchema(name);
    if (!found || handles_no_element(*found)) continue;
    library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&by_the_cpu>());
  }
}

template <class Function>
void set(torch::Library& library, const char* name, Function* function) {
  library.impl(name, torch::CppFunction::makeFromUnboxedFunction(function));
}

}  // namespace

void take_over_operators() {
  static torch::Library aten(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__,
                             __LINE__);
  static torch::Library others(torch::Library::IMPL, "_", c10::DispatchKey::CUDA, __FILE__,
                               __LINE__);
  Quiet quiet;  // that kernels are replaced is what this is for
  const c10::WarningUtils::WarningHandlerGuard guard(&quiet);
  constexpr std::array<std::string_view, 9> own = {"aten::empty.memory_format",
                                                   "aten::empty_strided",
                                                   "aten::copy_",
                                                   "aten::resize_",
                                                   "aten::_copy_from_and_resize",
                                                   "aten::_local_scalar_dense",
                                                   "aten::set_",
                                                   "aten::set_.source_Storage_storage_offset",
                                                   "aten::record_stream"};
  take_over_views(aten);
  give_to_the_cpu(aten, "aten", own);
  set(aten, "empty.memory_format", &empty);
  set(aten, "empty_strided", &empty_strided);
  set(aten, "copy_", &copy);
  set(aten, "_copy_from_and_resize", &copy_from_and_resize);
  set(aten, "_local_scalar_dense", &item);
  set(aten, "record_stream", &record_stream);
  set(aten, "resize_", &resize);
  set(aten, "set_", &set_to_nothing);
  set(aten, "set_.source_Storage_storage_offset", &at::native::set_storage_cpu_);
  others.fallback(torch::CppFunction::makeFromBoxedFunction<&by_the_cpu>());
}

void take_over_operators_of(const std::string& space) {
  static std::vector<std::unique_ptr<torch::Library>> kept;  // what goes takes its kernels along
  Quiet quiet;
  const c10::WarningUtils::WarningHandlerGuard guard(&quiet);
  kept.push_back(std::make_unique<torch::Library>(torch::Library::IMPL, space,
                                                  c10::DispatchKey::CUDA, __FILE__, __LINE__));
  give_to_the_cpu(*kept.back(), space, {});
}

}  // namespace cass
