// Recording of a stream's work into a graph, and of the streams that join it through events.
// All members are called with the device's lock held.
#pragma once

#include <hip/hip_runtime_api.h>

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "graph.hpp"
#include "operation.hpp"

namespace cass::hip {

class Device;
class Stream;

using Nodes = std::vector<hipGraphNode*>;

class Capture : public std::enable_shared_from_this<Capture> {
 public:
  // Records into `target`, or into a new graph where that is null. `tails`: what the first node
  // depends on.
  static std::shared_ptr<Capture> begin(Stream& origin, hipStreamCaptureMode mode,
                                        ihipGraph* target = nullptr, Nodes tails = {});

  // Ends the capture in all its streams. The graph is the caller's; null on failure.
  hipError_t end(Stream& stream, ihipGraph** graph);

  // Adds a node after the last ones of `stream`.
  hipError_t add(Stream& stream, std::shared_ptr<Operation> operation);

  // What the next node of `stream` depends on.
  const Nodes& tails(Stream& stream) { return tails_[&stream]; }
  void set_tails(Stream& stream, Nodes nodes) { tails_[&stream] = std::move(nodes); }

  // Makes `stream` part of the capture, its next node depending on `nodes` too.
  void join(Stream& stream, const Nodes& nodes);

  // Drops a stream that is being destroyed.
  void leave(Stream& stream) { tails_.erase(&stream); }

  void invalidate() { status_ = hipStreamCaptureStatusInvalidated; }
  hipStreamCaptureStatus status() const { return status_; }
  ihipGraph* graph() const { return graph_; }
  unsigned long long id() const { return id_; }
  bool owns_graph() const { return owns_graph_; }

  // Whether a capture of a blocking stream of the device is in progress: its null stream would
  // depend on it.
  static bool forbids_null_stream(const Device& device);
  static void invalidate_blocking(const Device& device);

  // Whether the calling thread may make calls that could wait for captured work (hipMalloc, ...).
  // If not, the captures in its way become invalid.
  static hipError_t check_unsafe_call();

 private:
  Capture() = default;

  ihipGraph* graph_ = nullptr;
  bool owns_graph_ = true;
  Stream* origin_ = nullptr;
  hipStreamCaptureMode mode_ = hipStreamCaptureModeGlobal;
  std::thread::id thread_;
  hipStreamCaptureStatus status_ = hipStreamCaptureStatusActive;
  std::map<Stream*, Nodes> tails_;
  unsigned long long id_ = 0;
};

// The mode of the calling thread: hipThreadExchangeStreamCaptureMode.
hipStreamCaptureMode& thread_capture_mode();

}  // namespace cass::hip
