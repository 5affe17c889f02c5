#include "capture.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "device.hpp"
#include "stream.hpp"

namespace cass::hip {
namespace {

std::vector<Capture*>& active() {
  static auto& captures = *new std::vector<Capture*>;
  return captures;
}

std::atomic<int> active_count = 0;

// Whether every node of the capture leads to one of `tails`.
bool all_lead_to(const Nodes& tails, const std::map<Stream*, Nodes>& others) {
  std::set<const hipGraphNode*> reached;
  Nodes pending = tails;
  while (!pending.empty()) {
    auto* node = pending.back();
    pending.pop_back();
    if (!reached.insert(node).second) continue;
    pending.insert(pending.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return std::all_of(others.begin(), others.end(), [&](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(),
                       [&](const auto* node) { return reached.contains(node); });
  });
}

}  // namespace

hipStreamCaptureMode& thread_capture_mode() {
  thread_local hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  return mode;
}

std::shared_ptr<Capture> Capture::begin(Stream& origin, hipStreamCaptureMode mode,
                                        ihipGraph* target, Nodes tails) {
  static unsigned long long count = 0;
  const std::shared_ptr<Capture> capture(new Capture);
  capture->owns_graph_ = target == nullptr;
  capture->graph_ = target == nullptr ? new ihipGraph : target;
  capture->origin_ = &origin;
  capture->mode_ = mode;
  capture->thread_ = std::this_thread::get_id();
  capture->id_ = ++count;
  capture->tails_.emplace(&origin, std::move(tails));
  origin.capture = capture;
  active().push_back(capture.get());
  ++active_count;
  return capture;
}

hipError_t Capture::end(Stream& stream, ihipGraph** graph) {
  *graph = nullptr;
  if (&stream != origin_) return hipErrorStreamCaptureUnmatched;
  if (mode_ != hipStreamCaptureModeRelaxed && thread_ != std::this_thread::get_id()) {
    return hipErrorStreamCaptureWrongThread;
  }
  const auto self = shared_from_this();  // the streams hold the only other references
  std::erase(active(), this);
  --active_count;
  auto result = hipSuccess;
  if (status_ == hipStreamCaptureStatusInvalidated) {
    result = hipErrorStreamCaptureInvalidated;
  } else if (!all_lead_to(tails_[&stream], tails_)) {
    result = hipErrorStreamCaptureUnjoined;
  }
  for (const auto& [member, nodes] : tails_) member->capture.reset();
  if (result == hipSuccess) {
    *graph = graph_;
  } else if (owns_graph_) {
    delete graph_;
  }
  graph_ = nullptr;
  return result;
}

hipError_t Capture::add(Stream& stream, std::shared_ptr<Operation> operation) {
  if (status_ == hipStreamCaptureStatusInvalidated) return hipErrorStreamCaptureInvalidated;
  const std::lock_guard lock(graph_lock());
  auto& tails = tails_[&stream];
  tails = {graph_->add(std::move(operation), tails)};
  return hipSuccess;
}

void Capture::join(Stream& stream, const Nodes& nodes) {
  auto& tails = tails_[&stream];
  for (auto* node : nodes) {
    if (std::find(tails.begin(), tails.end(), node) == tails.end()) tails.push_back(node);
  }
  stream.capture = shared_from_this();
}

bool Capture::forbids_null_stream(const Device& device) {
  if (active_count == 0) return false;
  return std::any_of(active().begin(), active().end(), [&](const auto* capture) {
    const Stream& origin = *capture->origin_;
    return capture->mode_ != hipStreamCaptureModeRelaxed && origin.blocking() &&
           &origin.device() == &device;
  });
}

void Capture::invalidate_blocking(const Device& device) {
  for (auto* capture : active()) {
    const Stream& origin = *capture->origin_;
    if (origin.blocking() && &origin.device() == &device) capture->invalidate();
  }
}

hipError_t Capture::check_unsafe_call() {
  if (active_count == 0 || thread_capture_mode() == hipStreamCaptureModeRelaxed) return hipSuccess;
  const std::lock_guard lock(Device::lock());
  auto result = hipSuccess;
  for (auto* capture : active()) {
    const bool own_thread = capture->thread_ == std::this_thread::get_id();
    const bool forbids = capture->mode_ == hipStreamCaptureModeGlobal ||
                         (capture->mode_ == hipStreamCaptureModeThreadLocal && own_thread);
    if (!forbids || (!own_thread && thread_capture_mode() != hipStreamCaptureModeGlobal)) continue;
    capture->invalidate();
    result = hipErrorStreamCaptureUnsupported;
  }
  return result;
}

}  // namespace cass::hip
