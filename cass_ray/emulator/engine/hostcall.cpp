// The hostcall protocol of AMD's device library (ockl, hostcall_impl): lock-free stacks of packets
// in memory that both sides share. A wave fills a packet, pushes it on the ready stack, rings the
// doorbell (s_sendmsg MSG_INTERRUPT) and waits for the packet's ready flag to clear. Served on the
// spot, by the thread that runs the wave.
#include "hostcall.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <vector>

#include "device_memory.hpp"
#include "device_printf.hpp"
#include "engine.hpp"

namespace cass::amdgpu {
namespace {

struct Header {
  std::uint64_t next;
  std::uint64_t active_lanes;
  std::uint32_t service;
  std::uint32_t control;  // bit 0: ready, the wave waits
};

struct Payload {
  std::uint64_t slots[64][8];  // by lane
};

struct Buffer {
  Header* headers;
  Payload* payloads;
  std::uint64_t doorbell;      // handle of a signal
  std::uint64_t free_stack;
  std::uint64_t ready_stack;
  std::uint64_t index_mask;
};

// amd_signal_t, as far as the device writes it.
struct alignas(64) Signal {
  std::int64_t kind;
  std::int64_t value;
  std::uint64_t mailbox;  // not null: the wave then sends the interrupt
  std::uint32_t event;
};

enum Service : std::uint32_t { function_call = 1, print = 2, device_memory = 3 };

// Waves of all threads together; one that finds none free spins until another is done.
constexpr std::uint64_t packet_count = 1024;
constexpr std::uint64_t index_mask = packet_count - 1;
constexpr std::size_t slab = std::size_t{2} << 20;
constexpr std::size_t heap_size = std::size_t{512} << 10;
constexpr std::uint64_t largest_allocation = std::uint64_t{64} << 30;
constexpr std::size_t largest_message = std::size_t{1} << 17;  // qwords

// Pointers on the stacks are indices with a tag above them; zero ends a stack.
constexpr std::uint64_t first_tag = packet_count;

// What the device reads and writes. Kernels can write anything here: nothing in it is believed.
struct Area {
  Buffer buffer;
  Signal signal;
  std::array<std::uint64_t, 8> mailbox;
  Header headers[packet_count];
  Payload payloads[packet_count];
};

class Hostcalls {
 public:
  static Hostcalls& instance() {
    static auto* calls = new Hostcalls;
    return *calls;
  }

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(area_); }

  void serve() {
    const std::lock_guard lock(mutex_);
    std::uint64_t at = __atomic_exchange_n(&area_->buffer.ready_stack, 0, __ATOMIC_ACQUIRE);
    // The stack has the last packet on top.
    std::vector<std::uint64_t> packets;
    while (at != 0 && packets.size() < packet_count) {
      packets.push_back(at & index_mask);
      at = __atomic_load_n(&area_->headers[at & index_mask].next, __ATOMIC_RELAXED);
    }
    for (auto packet = packets.rbegin(); packet != packets.rend(); ++packet) serve(*packet);
  }

 private:
  Hostcalls() : area_(reinterpret_cast<Area*>(DeviceMemory::instance().allocate(sizeof(Area)))) {
    if (area_ == nullptr) throw std::bad_alloc();
    for (std::uint64_t k = 1; k < packet_count; ++k) area_->headers[k].next = (k - 1) | first_tag;
    area_->signal.kind = 1;
    area_->signal.mailbox = reinterpret_cast<std::uint64_t>(area_->mailbox.data());
    Buffer& buffer = area_->buffer;
    buffer.headers = area_->headers;
    buffer.payloads = area_->payloads;
    buffer.doorbell = reinterpret_cast<std::uint64_t>(&area_->signal);
    buffer.free_stack = (packet_count - 1) | first_tag;
    buffer.ready_stack = 0;
    buffer.index_mask = index_mask;
    register_allocation(area_, sizeof(Area), AllocationKind::variable);
  }

  void serve(std::uint64_t packet) {
    Header& header = area_->headers[packet];
    const std::uint32_t service = header.service;
    for (std::uint64_t rest = header.active_lanes; rest != 0; rest &= rest - 1) {
      std::uint64_t* slots = area_->payloads[packet].slots[__builtin_ctzll(rest)];
      switch (service) {
        case print: append(slots); break;
        case device_memory: allocate(slots); break;
        // A call of a host function by its address: there is no program in this process.
        default: slots[0] = 0; break;
      }
    }
    __atomic_and_fetch(&header.control, ~1U, __ATOMIC_RELEASE);
  }

  // Messages come in parts. Slot 0: bit 0 first part, bit 1 last part, bits 7:5 count of qwords,
  // above them the message's number.
  void append(std::uint64_t* slots) {
    const std::uint64_t descriptor = slots[0];
    std::uint64_t number = descriptor >> 8;
    if ((descriptor & 1) != 0) {
      number = ++last_message_;
      slots[0] = (descriptor & 0xFE) | number << 8;
      // A lane has one unfinished message at a time.
      if (messages_.size() >= packet_count * 64) messages_.clear();
    }
    std::vector<std::uint64_t>& message = messages_[number];
    if (message.size() < largest_message) {
      message.insert(message.end(), slots + 1, slots + 1 + (descriptor >> 5 & 7));
    }
    if ((descriptor & 2) == 0) return;
    slots[0] = static_cast<std::uint64_t>(print_message(message));
    messages_.erase(number);
  }

  // Slot 0: what to free, or zero and slot 1: how much to allocate.
  void allocate(std::uint64_t* slots) {
    if (const std::uint64_t start = slots[0]; start != 0) {
      slots[0] = 0;
      if (allocated_.erase(start) == 0) return;
      auto* memory = reinterpret_cast<std::byte*>(start);
      unregister_allocation(memory);
      DeviceMemory::instance().release(memory);
      return;
    }
    const std::uint64_t wanted = slots[1];
    slots[0] = 0;
    if (wanted > largest_allocation) return;
    // The device library finds the slab of an address by its 2 MiB boundary; the arena aligns so.
    const std::size_t alignment = wanted >= slab ? slab : 4096;
    const std::size_t size = (wanted + alignment - 1) / alignment * alignment;
    std::byte* memory = DeviceMemory::instance().allocate(size);
    if (memory == nullptr) return;
    slots[0] = reinterpret_cast<std::uint64_t>(memory);
    allocated_.insert(slots[0]);
    // As a whole: the device's allocator deals it out.
    register_allocation(memory, size, AllocationKind::variable);
  }

  std::mutex mutex_;
  Area* area_;
  std::set<std::uint64_t> allocated_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> messages_;
  std::uint64_t last_message_ = 0;
};

}  // namespace

std::uint64_t hostcall_buffer_address() { return Hostcalls::instance().address(); }

// All zero: the device's allocator then asks for every slab by hostcall.
std::uint64_t device_heap_address() {
  static void* heap = [] {
    void* memory = DeviceMemory::instance().allocate(heap_size);
    if (memory == nullptr) throw std::bad_alloc();
    register_allocation(memory, heap_size, AllocationKind::variable);
    return memory;
  }();
  return reinterpret_cast<std::uint64_t>(heap);
}

void serve_hostcalls() { Hostcalls::instance().serve(); }

}  // namespace cass::amdgpu
