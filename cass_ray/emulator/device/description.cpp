#include "description.hpp"

#include "wire.hpp"

namespace cass::device {
namespace {

// What a runtime asks of a kernel: sizes and arguments.
void write(Writer& to, const amdgpu::Kernel& kernel) {
  to.put_text(kernel.name);
  to.put(kernel.kernarg_size);
  to.put(kernel.lds_size);
  to.put(kernel.private_size);
  to.put(kernel.max_flat_workgroup_size);
  to.put(kernel.vgpr_count);
  to.put(kernel.sgpr_count);
  to.put(kernel.wave_size);
  to.put(kernel.uses_dynamic_stack);
  to.put(kernel.gfx9);
  to.put(kernel.lds_capacity);
  to.put(static_cast<std::uint32_t>(kernel.arguments.size()));
  for (const amdgpu::KernelArgument& argument : kernel.arguments) {
    to.put(argument.offset);
    to.put(argument.size);
    to.put(argument.kind);
  }
}

amdgpu::Kernel read_kernel(Reader& from) {
  amdgpu::Kernel kernel;
  kernel.name = from.get_text();
  kernel.kernarg_size = from.get<std::uint32_t>();
  kernel.lds_size = from.get<std::uint32_t>();
  kernel.private_size = from.get<std::uint32_t>();
  kernel.max_flat_workgroup_size = from.get<std::uint32_t>();
  kernel.vgpr_count = from.get<std::uint16_t>();
  kernel.sgpr_count = from.get<std::uint16_t>();
  kernel.wave_size = from.get<std::uint8_t>();
  kernel.uses_dynamic_stack = from.get<bool>();
  kernel.gfx9 = from.get<bool>();
  kernel.lds_capacity = from.get<std::uint32_t>();
  const auto count = from.get<std::uint32_t>();
  for (std::uint32_t k = 0; k < count && from.ok(); ++k) {
    amdgpu::KernelArgument argument;
    argument.offset = from.get<std::uint32_t>();
    argument.size = from.get<std::uint32_t>();
    argument.kind = from.get<amdgpu::ArgumentKind>();
    kernel.arguments.push_back(argument);
  }
  return kernel;
}

}  // namespace

std::vector<std::byte> write_description(std::string_view target,
                                         std::span<const amdgpu::Kernel> kernels,
                                         const Variables& variables) {
  Writer to;
  to.put_text(target);
  to.put(static_cast<std::uint32_t>(kernels.size()));
  for (const amdgpu::Kernel& kernel : kernels) write(to, kernel);
  to.put(static_cast<std::uint32_t>(variables.size()));
  for (const auto& [name, symbol] : variables) {
    to.put_text(name);
    to.put(reinterpret_cast<std::uint64_t>(symbol.address));
    to.put(std::uint64_t{symbol.size});
  }
  return to.take();
}

std::optional<Description> read_description(std::span<const std::byte> bytes) {
  Reader from(bytes);
  Description made;
  made.target = from.get_text();
  const auto kernels = from.get<std::uint32_t>();
  for (std::uint32_t k = 0; k < kernels && from.ok(); ++k)
    made.kernels.push_back(read_kernel(from));
  const auto variables = from.get<std::uint32_t>();
  for (std::uint32_t k = 0; k < variables && from.ok(); ++k) {
    std::string name = from.get_text();
    auto* address = reinterpret_cast<std::byte*>(from.get<std::uint64_t>());
    made.variables.emplace(std::move(name), amdgpu::Symbol{address, from.get<std::uint64_t>()});
  }
  if (!from.ok() || !from.at_end()) return std::nullopt;
  return made;
}

}  // namespace cass::device
