// Events: a place in a stream, and the time when it was reached.
#pragma once

#include <hip/hip_runtime_api.h>

#include <chrono>
#include <memory>
#include <mutex>

#include "capture.hpp"
#include "command.hpp"
#include "device.hpp"
#include "operation.hpp"

struct ihipEvent_t {
  ihipEvent_t(unsigned flags, cass::hip::Device& device) : flags(flags), device(device) {}

  const unsigned flags;
  cass::hip::Device& device;  // the one that it was made on

  std::mutex guard;
  cass::hip::CommandPointer command;  // the latest record, in a stream or in a graph's launch
  // The latest record was in a capturing stream.
  std::weak_ptr<cass::hip::Capture> capture;
  bool captured = false;
  cass::hip::Nodes captured_nodes;
};

namespace cass::hip {

using EventPointer = std::shared_ptr<ihipEvent_t>;

hipEvent_t create_event(unsigned flags);

// The event of a handle; null for a handle that is not an event.
EventPointer event_of(hipEvent_t handle);

hipError_t record_event(hipEvent_t handle, const StreamPointer& stream);

// Record and wait as nodes of a graph: each launch of it records anew, and waits for what was
// recorded before it.
class EventRecordOperation final : public Operation {
 public:
  explicit EventRecordOperation(EventPointer event) : event(std::move(event)) {}
  hipError_t run() override;
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeEventRecord; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<EventRecordOperation>(event);
  }
  std::shared_ptr<Operation> launched() const override;

  EventPointer event;
};

class EventWaitOperation final : public Operation {
 public:
  explicit EventWaitOperation(EventPointer event) : event(std::move(event)) {}
  hipError_t run() override;
  hipGraphNodeType node_type() const override { return hipGraphNodeTypeWaitEvent; }
  std::shared_ptr<Operation> copy() const override {
    return std::make_shared<EventWaitOperation>(event);
  }
  std::shared_ptr<Operation> launched() const override;

  EventPointer event;
};

}  // namespace cass::hip
