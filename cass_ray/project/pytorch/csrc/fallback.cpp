// Operators of PyTorch, and those of extensions that have no kernel for devices, by their CPU
// kernels. PyTorch's own fallback knows tensors and lists whose type is that of C++'s lists of
// tensors, by address; TorchScript makes types of its own, and extensions pass containers.
#include "fallback.hpp"

#include "generators.hpp"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/native/CPUFallback.h>
#include <c10/cuda/CUDAFunctions.h>

namespace cass {

namespace {

using c10::IValue;

bool is_container(const IValue& value) {
  return value.isTuple() || value.isGenericDict() || (value.isList() && !value.isTensorList());
}

// Whether it is a tensor of the kind of device, or a container that has one in it.
bool holds_tensor(const IValue& value, c10::DeviceType kind) {
  const auto holds = [kind](const IValue& part) { return holds_tensor(part, kind); };
  if (value.isTensor())
    return value.toTensor().defined() && value.toTensor().device().type() == kind;
  if (value.isList()) {
    const auto parts = value.toListRef();
    return std::any_of(parts.begin(), parts.end(), holds);
  }
  if (value.isTuple()) {
    const auto& parts = value.toTupleRef().elements();
    return std::any_of(parts.begin(), parts.end(), holds);
  }
  if (value.isGenericDict()) {
    const auto parts = value.toGenericDict();
    return std::any_of(parts.begin(), parts.end(), [&](const auto& entry) {
      return holds(entry.key()) || holds(entry.value());
    });
  }
  return false;
}

// The same with every tensor on `device`: containers are made anew, with the types that they have.
IValue moved(const IValue& value, c10::Device device) {
  if (value.isTensor()) return value.toTensor().defined() ? value.toTensor().to(device) : value;
  if (value.isList()) {
    const auto list = value.toList();
    c10::impl::GenericList made(list.elementType());
    for (const IValue& part : value.toListRef()) made.push_back(moved(part, device));
    return made;
  }
  if (value.isTuple()) {
    const auto& tuple = value.toTupleRef();
    std::vector<IValue> parts;
    for (const IValue& part : tuple.elements()) parts.push_back(moved(part, device));
    return c10::ivalue::Tuple::createNamed(std::move(parts), tuple.type());
  }
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    c10::impl::GenericDict made(dict.keyType(), dict.valueType());
    for (const auto& entry : dict)
      made.insert(moved(entry.key(), device), moved(entry.value(), device));
    return made;
  }
  return value;
}

// A list of tensors, of which some may be none, with the type that PyTorch's fallback knows.
IValue as_tensor_list(const IValue& value) {
  if (*value.toList().elementType() == *c10::TensorType::get()) {
    c10::List<at::Tensor> made;
    for (const IValue& part : value.toListRef()) made.push_back(part.toTensor());
    return made;
  }
  c10::List<std::optional<at::Tensor>> made;
  for (const IValue& part : value.toListRef()) made.push_back(part.toOptional<at::Tensor>());
  return made;
}

// Puts arguments into a form that PyTorch's fallback brings to the CPU, or brings them there.
void normalize(const c10::OperatorHandle& name, torch::jit::Stack* stack) {
  const auto& arguments = name.schema().arguments();
  const size_t first = stack->size() - arguments.size();
  const auto optional_tensor = c10::OptionalType::ofTensor();
  for (size_t index = 0; index < arguments.size(); ++index) {
    IValue& value = (*stack)[first + index];
    if (!is_container(value) || !holds_tensor(value, c10::DeviceType::CUDA)) continue;
    if (value.isList() && value.toList().elementType()->isSubtypeOf(*optional_tensor)) {
      value = as_tensor_list(value);
      continue;
    }
    const auto* const alias = arguments[index].alias_info();
    TORCH_CHECK_NOT_IMPLEMENTED(alias == nullptr || !alias->isWrite(), name.operator_name(),
                                " writes to tensors of ", arguments[index].type()->str(),
                                ", which is not there on the CPU backend's devices");
    value = moved(value, c10::DeviceType::CPU);
  }
}

// The device of the first tensor that is on one, else the current one.
c10::Device device_of(const torch::jit::Stack& arguments) {
  for (const auto& value : arguments) {
    if (value.isTensor() && value.toTensor().is_cuda()) return value.toTensor().device();
  }
  return {c10::DeviceType::CUDA, c10::cuda::current_device()};
}

// Whether the first tensor is the CPU's and another one a device's: a number, as in `1 - x`. Then
// PyTorch's fallback takes it that results are the CPU's too.
bool begins_with_a_number(const torch::jit::Stack& stack, size_t arguments) {
  bool begins = false, seen = false, on_device = false;
  for (size_t index = stack.size() - arguments; index < stack.size(); ++index) {
    const IValue& value = stack[index];
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    begins = seen ? begins : value.toTensor().is_cpu();
    seen = true;
    on_device = on_device || value.toTensor().is_cuda();
  }
  return begins && on_device;
}

// Operators that draw random numbers take them from the device's generator, which
// torch.cuda.manual_seed seeds.
void give_generator(const c10::FunctionSchema& schema, torch::jit::Stack* stack,
                    c10::Device device) {
  const auto& arguments = schema.arguments();
  const size_t first = stack->size() - arguments.size();
  for (size_t index = 0; index < arguments.size(); ++index) {
    if (arguments[index].name() != "generator") continue;
    auto& value = (*stack)[first + index];
    value = for_the_cpu(value.isGenerator()
                            ? value.toGenerator()
                            : at::cuda::detail::getDefaultCUDAGenerator(device.index()));
  }
}

}  // namespace

bool is_view(const c10::FunctionSchema& schema) {
  for (const auto& argument : schema.arguments()) {
    const auto* alias = argument.alias_info();
    if (alias != nullptr && !alias->isWrite()) return true;
  }
  return false;
}

void by_the_cpu(const c10::OperatorHandle& name, torch::jit::Stack* stack) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !is_view(name.schema()), name.operator_name(),
      " returns a view and has no kernel for devices; a view by its CPU kernel would be one of "
      "a copy, and what is written to it would be lost");
  const c10::Device device = device_of(*stack);
  const bool number_first = begins_with_a_number(*stack, name.schema().arguments().size());
  give_generator(name.schema(), stack, device);
  normalize(name, stack);
  at::native::cpu_fallback(name, stack);
  const auto& returns = name.schema().returns();
  auto result = stack->end() - static_cast<std::ptrdiff_t>(returns.size());
  for (size_t index = 0; index < returns.size(); ++index, ++result) {
    const bool is_made = result->isTensor() && returns[index].alias_info() == nullptr;
    if (number_first && is_made && result->toTensor().defined() && result->toTensor().is_cpu())
      *result = result->toTensor().to(device);
    if (is_container(*result) && holds_tensor(*result, c10::DeviceType::CPU))
      *result = moved(*result, device);
  }
}

}  // namespace cass
