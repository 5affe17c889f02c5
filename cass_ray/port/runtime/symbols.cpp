// Variables of the device by their symbols. Of managed ones the symbol is the managed memory
// itself, which HIP does not take for one.
#include "forward.hpp"
#include "registration.hpp"

using namespace cass::cuda;

namespace {

// Calls `copy` with the place of a managed variable, or `otherwise`.
template <typename Copy, typename Otherwise>
hipError_t in_managed(const void* symbol, std::size_t size, std::size_t offset, Copy copy,
                      Otherwise otherwise) {
  const auto found = managed_variable(symbol);
  if (found.memory == nullptr) return otherwise();
  if (offset > found.size || size > found.size - offset) return hipErrorInvalidValue;
  return copy(static_cast<char*>(found.memory) + offset);
}

hipError_t copy_to(const void* symbol, const void* source, std::size_t size, std::size_t offset,
                   hipMemcpyKind kind) {
  return in_managed(
      symbol, size, offset, [&](void* place) { return hipMemcpy(place, source, size, kind); },
      [&] { return hipMemcpyToSymbol(symbol, source, size, offset, kind); });
}

hipError_t copy_from(void* target, const void* symbol, std::size_t size, std::size_t offset,
                     hipMemcpyKind kind) {
  return in_managed(
      symbol, size, offset, [&](void* place) { return hipMemcpy(target, place, size, kind); },
      [&] { return hipMemcpyFromSymbol(target, symbol, size, offset, kind); });
}

hipError_t start_copy_to(const void* symbol, const void* source, std::size_t size,
                         std::size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return in_managed(
      symbol, size, offset,
      [&](void* place) { return hipMemcpyAsync(place, source, size, kind, stream); },
      [&] { return hipMemcpyToSymbolAsync(symbol, source, size, offset, kind, stream); });
}

hipError_t start_copy_from(void* target, const void* symbol, std::size_t size, std::size_t offset,
                           hipMemcpyKind kind, hipStream_t stream) {
  return in_managed(
      symbol, size, offset,
      [&](void* place) { return hipMemcpyAsync(target, place, size, kind, stream); },
      [&] { return hipMemcpyFromSymbolAsync(target, symbol, size, offset, kind, stream); });
}

hipError_t address_of(void** found, const void* symbol) {
  const auto assign = [&](void* place) {
    *found = place;
    return hipSuccess;
  };
  return in_managed(symbol, 0, 0, assign, [&] { return hipGetSymbolAddress(found, symbol); });
}

hipError_t size_of(std::size_t* size, const void* symbol) {
  const auto assign = [&](void*) {
    *size = managed_variable(symbol).size;
    return hipSuccess;
  };
  return in_managed(symbol, 0, 0, assign, [&] { return hipGetSymbolSize(size, symbol); });
}

}  // namespace

FORWARD_BOTH(cudaMemcpyToSymbol, copy_to,
             (const void* symbol, const void* source, std::size_t size, std::size_t offset,
              hipMemcpyKind kind),
             (symbol, source, size, offset, kind))
FORWARD_BOTH(cudaMemcpyFromSymbol, copy_from,
             (void* target, const void* symbol, std::size_t size, std::size_t offset,
              hipMemcpyKind kind),
             (target, symbol, size, offset, kind))
FORWARD_STREAM(cudaMemcpyToSymbolAsync, start_copy_to,
               (const void* symbol, const void* source, std::size_t size, std::size_t offset,
                hipMemcpyKind kind, hipStream_t stream),
               (symbol, source, size, offset, kind, stream))
FORWARD_STREAM(cudaMemcpyFromSymbolAsync, start_copy_from,
               (void* target, const void* symbol, std::size_t size, std::size_t offset,
                hipMemcpyKind kind, hipStream_t stream),
               (target, symbol, size, offset, kind, stream))
FORWARD(cudaGetSymbolAddress, address_of, (void** found, const void* symbol), (found, symbol))
FORWARD(cudaGetSymbolSize, size_of, (std::size_t* size, const void* symbol), (size, symbol))
