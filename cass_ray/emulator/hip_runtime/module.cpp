#include "module.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "compressed_bundle.hpp"
#include "device_kind.hpp"
#include "errors.hpp"
#include "image_size.hpp"
#include "memory.hpp"

using namespace cass::hip;

std::unique_ptr<ihipModule_t> ihipModule_t::load(std::span<const std::byte> image, int device,
                                                 hipError_t* problem) {
  if (problem != nullptr) *problem = hipErrorInvalidImage;
  cass::amdgpu::Error error;
  std::vector<std::byte> expanded;
  if (is_compressed_bundle(image)) {
    std::string message;
    if (!expand_bundle(image, expanded, message)) {
      report("compressed device code: " + message);
      return nullptr;
    }
    image = expanded;
  }
  const std::string_view processor = device_kinds()[static_cast<std::size_t>(device)]->processor;
  const auto elf = cass::amdgpu::find_code_object(image, error, processor);
  auto module = std::make_unique<ihipModule_t>();
  module->device = device;
  if (!error) module->code_object = RemoteDevice::instance().load(elf, error);
  if (module->code_object != nullptr &&
      !cass::amdgpu::runs_on(module->code_object->target(), processor)) {
    error = {cass::amdgpu::ErrorKind::wrong_target,
             "the code object is for " + std::string(module->code_object->target()) +
                 ", the device is a " + std::string(processor)};
    module->code_object = nullptr;
  }
  if (module->code_object == nullptr) {
    report("device code: " + error.message);
    if (problem != nullptr && error.kind == cass::amdgpu::ErrorKind::wrong_target) {
      *problem = hipErrorNoBinaryForGpu;
    }
    return nullptr;
  }
  return module;
}

ihipModule_t::~ihipModule_t() {
  for (const auto& [name, symbol] : variables_) {
    static_cast<void>(Memory::instance().abandon(symbol.address, MemoryKind::variable));
  }
}

hipFunction_t ihipModule_t::function(std::string_view name) {
  const std::lock_guard lock(guard_);
  const auto known = functions_.find(name);
  if (known != functions_.end()) return known->second.get();
  const auto* kernel = code_object->kernel(name);
  if (kernel == nullptr) return nullptr;
  auto handle = std::make_unique<ihipModuleSymbol_t>(kernel, code_object, device);
  return functions_.emplace(name, std::move(handle)).first->second.get();
}

std::optional<cass::amdgpu::Symbol> ihipModule_t::variable(std::string_view name) {
  const std::lock_guard lock(guard_);
  const auto known = variables_.find(name);
  if (known != variables_.end()) return known->second;
  const auto symbol = code_object->variable(name);
  if (!symbol) return std::nullopt;
  variables_.emplace(name, *symbol);
  // Refused only where another name of the same variable is known already.
  static_cast<void>(
      Memory::instance().adopt(symbol->address, symbol->size, MemoryKind::variable, device, 0));
  return symbol;
}

namespace cass::hip {

Program& Program::instance() {
  static auto& program = *new Program;
  return program;
}

std::string Program::processor() {
  const std::lock_guard lock(guard_);
  for (const auto& binary : binaries_) {
    std::span<const std::byte> image(binary->image, image_size(binary->image));
    std::vector<std::byte> expanded;
    std::string problem;
    if (is_compressed_bundle(image)) {
      if (!expand_bundle(image, expanded, problem)) continue;
      image = expanded;
    }
    amdgpu::Error error;
    const auto elf = amdgpu::find_code_object(image, error);
    if (!elf.empty()) return amdgpu::processor_of(elf);
  }
  return {};
}

Program::FatBinary* Program::add_binary(const void* image) {
  const std::lock_guard lock(guard_);
  binaries_.push_back(std::make_unique<FatBinary>());
  binaries_.back()->image = static_cast<const std::byte*>(image);
  return binaries_.back().get();
}

void Program::add_function(FatBinary* binary, const void* host, const char* name) {
  const std::lock_guard lock(guard_);
  functions_.insert_or_assign(host, Entry{binary, name, 0});
}

void Program::add_variable(FatBinary* binary, const void* host, const char* name,
                           std::size_t size) {
  const std::lock_guard lock(guard_);
  variables_.insert_or_assign(host, Entry{binary, name, size});
}

void Program::add_managed_variable(FatBinary* binary, void** pointer, const void* initial,
                                   const char* name, std::size_t size) {
  void* memory = nullptr;
  if (Memory::instance().allocate(size, MemoryKind::managed, 0, hipMemAttachGlobal, &memory) !=
      hipSuccess) {
    report(std::string("no memory for the managed variable ") + name);
    std::abort();
  }
  if (initial != nullptr) std::memcpy(memory, initial, size);
  *pointer = memory;
  const std::lock_guard lock(guard_);
  binary->managed.emplace_back(name, memory);
  managed_.insert_or_assign(pointer, std::pair(memory, size));
}

void Program::remove_binary(FatBinary* binary) {
  const std::lock_guard lock(guard_);
  const auto is_of_binary = [&](const auto& entry) { return entry.second.binary == binary; };
  std::erase_if(functions_, is_of_binary);
  std::erase_if(variables_, is_of_binary);
  std::erase_if(binaries_, [&](const auto& owned) { return owned.get() == binary; });
}

ihipModule_t* Program::module_of(FatBinary* binary, int device) {
  const auto [known, is_new] = binary->modules.try_emplace(device);
  auto& module = known->second;
  if (!is_new) return module.get();
  module = ihipModule_t::load({binary->image, image_size(binary->image)}, device);
  if (module == nullptr) return nullptr;
  for (const auto& [name, memory] : binary->managed) {
    const auto symbol = module->variable(name);
    if (!symbol || symbol->size < sizeof memory) continue;
    void* pointer = memory;
    const CopySide to{symbol->address, sizeof pointer, true};
    const CopySide from{reinterpret_cast<std::byte*>(&pointer), sizeof pointer, false};
    static_cast<void>(RemoteDevice::instance().copy(to, from, sizeof pointer, 1));
  }
  return module.get();
}

hipError_t Program::function(const void* host, int device, hipFunction_t* found) {
  const std::lock_guard lock(guard_);
  const auto entry = functions_.find(host);
  if (entry == functions_.end()) return hipErrorInvalidDeviceFunction;
  auto* module = module_of(entry->second.binary, device);
  if (module == nullptr) return hipErrorNoBinaryForGpu;
  *found = module->function(entry->second.name);
  return *found != nullptr ? hipSuccess : hipErrorInvalidDeviceFunction;
}

hipError_t Program::variable(const void* host, int device, amdgpu::Symbol* found) {
  const std::lock_guard lock(guard_);
  if (const auto managed = managed_.find(host); managed != managed_.end()) {
    *found = {static_cast<std::byte*>(managed->second.first), managed->second.second};
    return hipSuccess;
  }
  const auto entry = variables_.find(host);
  if (entry == variables_.end()) return hipErrorInvalidSymbol;
  auto* module = module_of(entry->second.binary, device);
  if (module == nullptr) return hipErrorNoBinaryForGpu;
  const auto symbol = module->variable(entry->second.name);
  if (!symbol) return hipErrorInvalidSymbol;
  *found = *symbol;
  return hipSuccess;
}

const char* Program::function_name(const void* host) {
  const std::lock_guard lock(guard_);
  const auto entry = functions_.find(host);
  return entry == functions_.end() ? nullptr : entry->second.name.c_str();
}

}  // namespace cass::hip
