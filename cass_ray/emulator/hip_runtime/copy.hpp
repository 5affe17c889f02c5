// Copies and fills of memory, of up to three dimensions.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device.hpp"
#include "operation.hpp"

namespace cass::hip {

// Bytes `width` of `height` rows in `depth` slices; pitches and slices are bytes too.
struct CopyShape {
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t destination_pitch = 0;
  std::size_t destination_slice = 0;
  std::size_t source_pitch = 0;
  std::size_t source_slice = 0;

  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

struct CopyRequest {
  std::byte* destination = nullptr;
  const std::byte* source = nullptr;
  CopyShape shape;
  hipMemcpyKind kind = hipMemcpyDefault;

  static CopyRequest linear(void* destination, const void* source, std::size_t bytes,
                            hipMemcpyKind kind);
};

class CopyOperation final : public Operation {
 public:
  explicit CopyOperation(const CopyRequest& request) : request(request) {}
  hipError_t run() override;
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeMemcpy; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<CopyOperation>(*this);
  }

  const CopyRequest request;
  hipMemcpy3DParms parameters{};  // as the program gave them, for graphs
};

// Whether the request stays inside the allocations it names and the kind suits them.
hipError_t check_copy(const CopyRequest& request);

enum class Waiting { until_done, as_hip_does };

// Queues the copy. hipMemcpyAsync waits too when a side is memory that HIP does not know: the
// program may reuse it on return.
hipError_t submit_copy(const StreamPointer& stream, const CopyRequest& request, Waiting waiting);

// Fills `height` rows in `depth` slices with `width` elements of `element_bytes` (1, 2 or 4).
struct FillRequest {
  std::byte* destination = nullptr;
  std::uint32_t value = 0;
  std::size_t element_bytes = 1;
  std::size_t width = 0;  // elements
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t pitch = 0;  // bytes
  std::size_t slice = 0;  // bytes
};

class FillOperation final : public Operation {
 public:
  explicit FillOperation(const FillRequest& request) : request(request) {}
  hipError_t run() override;
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeMemset; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<FillOperation>(request);
  }

  const FillRequest request;
};

hipError_t check_fill(const FillRequest& request);
hipError_t submit_fill(const StreamPointer& stream, const FillRequest& request, bool wait);

}  // namespace cass::hip
