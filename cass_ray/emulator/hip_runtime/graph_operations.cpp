#include "graph_operations.hpp"

#include "copy_shapes.hpp"
#include "device.hpp"
#include "device_properties.hpp"
#include "host_operation.hpp"
#include "memory.hpp"
#include "module.hpp"

namespace cass::hip {
namespace {

hipError_t symbol_part(const void* symbol, std::size_t bytes, std::size_t offset,
                       std::byte** address) {
  amdgpu::Symbol variable;
  if (symbol == nullptr) return hipErrorInvalidValue;
  const int device = Device::current().ordinal;
  if (const auto error = Program::instance().variable(symbol, device, &variable);
      error != hipSuccess) {
    return error;
  }
  if (offset > variable.size || bytes > variable.size - offset) return hipErrorInvalidValue;
  *address = variable.address + offset;
  return hipSuccess;
}

}  // namespace

hipError_t kernel_operation(const hipKernelNodeParams* parameters,
                            std::shared_ptr<Operation>* made) {
  if (parameters == nullptr || parameters->func == nullptr) return hipErrorInvalidValue;
  LaunchRequest request;
  if (const auto error = Program::instance().function(parameters->func, Device::current().ordinal,
                                                      &request.function);
      error != hipSuccess) {
    return error;
  }
  const auto& p = *parameters;
  request.grid_blocks = {p.gridDim.x, p.gridDim.y, p.gridDim.z};
  request.block_threads = {p.blockDim.x, p.blockDim.y, p.blockDim.z};
  request.shared_bytes = p.sharedMemBytes;
  request.arguments = p.kernelParams;
  request.extra = p.extra;
  std::shared_ptr<KernelOperation> operation;
  if (const auto error = KernelOperation::make(request, &operation); error != hipSuccess) {
    return error;
  }
  operation->named_by = p.func;
  *made = std::move(operation);
  return hipSuccess;
}

hipError_t fill_operation(const hipMemsetParams* parameters, std::shared_ptr<Operation>* made) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  const auto& p = *parameters;
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return hipErrorInvalidValue;
  if (p.dst == nullptr || p.width == 0 || p.height == 0) return hipErrorInvalidValue;
  FillRequest request;
  request.destination = static_cast<std::byte*>(p.dst);
  request.value = p.value;
  request.element_bytes = p.elementSize;
  request.width = p.width;
  request.height = p.height;
  request.pitch = p.pitch;
  if (const auto error = check_fill(request); error != hipSuccess) return error;
  *made = std::make_shared<FillOperation>(request);
  return hipSuccess;
}

hipError_t copy_operation(const hipMemcpy3DParms* parameters, std::shared_ptr<Operation>* made) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  CopyRequest request;
  if (const auto error = request_of(*parameters, &request); error != hipSuccess) return error;
  if (request.shape.empty()) return hipErrorInvalidValue;
  if (const auto error = check_copy(request); error != hipSuccess) return error;
  auto operation = std::make_shared<CopyOperation>(request);
  operation->parameters = *parameters;
  *made = std::move(operation);
  return hipSuccess;
}

hipError_t copy_operation(void* destination, const void* source, std::size_t bytes,
                          hipMemcpyKind kind, std::shared_ptr<Operation>* made) {
  if (bytes == 0) return hipErrorInvalidValue;
  const auto request = CopyRequest::linear(destination, source, bytes, kind);
  if (const auto error = check_copy(request); error != hipSuccess) return error;
  *made = std::make_shared<CopyOperation>(request);
  return hipSuccess;
}

hipError_t copy_to_symbol_operation(const void* symbol, const void* source, std::size_t bytes,
                                    std::size_t offset, hipMemcpyKind kind,
                                    std::shared_ptr<Operation>* made) {
  std::byte* address = nullptr;
  if (const auto error = symbol_part(symbol, bytes, offset, &address); error != hipSuccess) {
    return error;
  }
  return copy_operation(address, source, bytes, kind, made);
}

hipError_t copy_from_symbol_operation(void* destination, const void* symbol, std::size_t bytes,
                                      std::size_t offset, hipMemcpyKind kind,
                                      std::shared_ptr<Operation>* made) {
  std::byte* address = nullptr;
  if (const auto error = symbol_part(symbol, bytes, offset, &address); error != hipSuccess) {
    return error;
  }
  return copy_operation(destination, address, bytes, kind, made);
}

hipError_t host_operation(const hipHostNodeParams* parameters, std::shared_ptr<Operation>* made) {
  if (parameters == nullptr || parameters->fn == nullptr) return hipErrorInvalidValue;
  *made = std::make_shared<HostOperation>(parameters->fn, parameters->userData);
  return hipSuccess;
}

hipError_t child_operation(hipGraph_t child, std::shared_ptr<Operation>* made) {
  if (!is_graph(child)) return hipErrorInvalidValue;
  *made = std::make_shared<ChildGraphOperation>(child->clone());
  return hipSuccess;
}

hipMemcpy3DParms parameters_of(const CopyOperation& operation) {
  if (operation.parameters.extent.width != 0) return operation.parameters;
  const auto& request = operation.request;
  const auto& shape = request.shape;
  hipMemcpy3DParms parameters{};
  const auto pitch = [&](std::size_t given) { return given != 0 ? given : shape.width; };
  parameters.srcPtr = {const_cast<std::byte*>(request.source), pitch(shape.source_pitch),
                       shape.width, shape.height};
  parameters.dstPtr = {request.destination, pitch(shape.destination_pitch), shape.width,
                       shape.height};
  parameters.extent = {shape.width, shape.height, shape.depth};
  parameters.kind = request.kind;
  return parameters;
}

hipMemsetParams parameters_of(const FillOperation& operation) {
  const auto& request = operation.request;
  hipMemsetParams parameters{};
  parameters.dst = request.destination;
  parameters.elementSize = static_cast<unsigned>(request.element_bytes);
  parameters.height = request.height;
  parameters.pitch = request.pitch;
  parameters.value = request.value;
  parameters.width = request.width;
  return parameters;
}

hipError_t AllocateOperation::make(hipMemAllocNodeParams* parameters,
                                   std::shared_ptr<Operation>* made) {
  if (parameters == nullptr || parameters->bytesize == 0) return hipErrorInvalidValue;
  const auto& location = parameters->poolProps.location;
  if (location.type == hipMemLocationTypeDevice && check_device(location.id) != hipSuccess) {
    return hipErrorInvalidValue;
  }
  const int device =
      location.type == hipMemLocationTypeDevice ? location.id : Device::current().ordinal;
  void* memory = nullptr;
  if (const auto error =
          Memory::instance().allocate(parameters->bytesize, MemoryKind::device, device, 0, &memory);
      error != hipSuccess) {
    return error;
  }
  parameters->dptr = memory;
  auto operation = std::make_shared<AllocateOperation>();
  operation->parameters = *parameters;
  const auto id = Memory::instance().find(memory)->id;
  operation->memory_ = std::shared_ptr<void>(memory, [id](void* address) {
    // The program may have freed it already, and the address be another allocation's.
    const auto allocation = Memory::instance().find(address);
    if (allocation && allocation->id == id) static_cast<void>(Memory::instance().release(address));
  });
  *made = std::move(operation);
  return hipSuccess;
}

}  // namespace cass::hip
