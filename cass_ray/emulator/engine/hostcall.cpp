// The hostcall protocol of AMD's device library (ockl, hostcall_impl): lock-free stacks of packets
// in memory that both sides share. A wave fills a packet, pushes it on the ready stack, rings the
// doorbell (s_sendmsg MSG_INTERRUPT) and waits for the packet's ready flag to clear. Served on the
// spot, by the thread that runs the wave.
#include "hostcall.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "device_printf.hpp"
#include "engine.hpp"

namespace cass::rdna3 {
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
  std::int64_t kind = 1;
  std::int64_t value = 0;
  std::uint64_t mailbox = 0;  // not null: the wave then sends the interrupt
  std::uint32_t event = 0;
};

enum Service : std::uint32_t { function_call = 1, print = 2, device_memory = 3 };

// Waves of all threads together; one that finds none free spins until another is done.
constexpr std::uint64_t packet_count = 1024;
constexpr std::size_t slab = std::size_t{2} << 20;
constexpr std::size_t heap_size = std::size_t{512} << 10;

// Pointers on the stacks are indices with a tag above them; zero ends a stack.
constexpr std::uint64_t first_tag = packet_count;

class Hostcalls {
 public:
  static Hostcalls& instance() {
    static auto* calls = new Hostcalls;
    return *calls;
  }

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(&buffer_); }

  void serve() {
    const std::lock_guard lock(mutex_);
    std::uint64_t at = __atomic_exchange_n(&buffer_.ready_stack, 0, __ATOMIC_ACQUIRE);
    // The stack has the last packet on top.
    std::vector<std::uint64_t> packets;
    for (; at != 0; at = headers_[at & buffer_.index_mask].next)
      packets.push_back(at & buffer_.index_mask);
    for (auto packet = packets.rbegin(); packet != packets.rend(); ++packet) serve(*packet);
  }

 private:
  Hostcalls() : headers_(packet_count), payloads_(packet_count) {
    for (std::uint64_t k = 1; k < packet_count; ++k) headers_[k].next = (k - 1) | first_tag;
    signal_.mailbox = reinterpret_cast<std::uint64_t>(mailbox_.data());
    buffer_.headers = headers_.data();
    buffer_.payloads = payloads_.data();
    buffer_.doorbell = reinterpret_cast<std::uint64_t>(&signal_);
    buffer_.free_stack = (packet_count - 1) | first_tag;
    buffer_.ready_stack = 0;
    buffer_.index_mask = packet_count - 1;
    register_allocation(&buffer_, sizeof buffer_, AllocationKind::variable);
    register_allocation(headers_.data(), packet_count * sizeof(Header), AllocationKind::variable);
    register_allocation(payloads_.data(), packet_count * sizeof(Payload), AllocationKind::variable);
    register_allocation(&signal_, sizeof signal_, AllocationKind::variable);
    register_allocation(mailbox_.data(), sizeof mailbox_, AllocationKind::variable);
  }

  void serve(std::uint64_t packet) {
    Header& header = headers_[packet];
    for (std::uint64_t rest = header.active_lanes; rest != 0; rest &= rest - 1) {
      std::uint64_t* slots = payloads_[packet].slots[__builtin_ctzll(rest)];
      switch (header.service) {
        case function_call: call(slots); break;
        case print: append(slots); break;
        case device_memory: allocate(slots); break;
        default: std::fprintf(stderr, "cass-rdna3: unknown hostcall service %u\n", header.service);
      }
    }
    __atomic_and_fetch(&header.control, ~1U, __ATOMIC_RELEASE);
  }

  // A host function of two results and seven arguments, its address first.
  static void call(std::uint64_t* slots) {
    using Function = void (*)(std::uint64_t*, std::uint64_t*);
    std::array<std::uint64_t, 7> arguments;
    std::memcpy(arguments.data(), slots + 1, sizeof arguments);
    reinterpret_cast<Function>(slots[0])(slots, arguments.data());
  }

  // Messages come in parts. Slot 0: bit 0 first part, bit 1 last part, bits 7:5 count of qwords,
  // above them the message's number.
  void append(std::uint64_t* slots) {
    const std::uint64_t descriptor = slots[0];
    std::uint64_t number = descriptor >> 8;
    if ((descriptor & 1) != 0) {
      number = ++last_message_;
      slots[0] = (descriptor & 0xFE) | number << 8;
    }
    std::vector<std::uint64_t>& message = messages_[number];
    message.insert(message.end(), slots + 1, slots + 1 + (descriptor >> 5 & 7));
    if ((descriptor & 2) == 0) return;
    slots[0] = static_cast<std::uint64_t>(print_message(message));
    messages_.erase(number);
  }

  // Slot 0: what to free, or zero and slot 1: how much to allocate.
  static void allocate(std::uint64_t* slots) {
    if (slots[0] != 0) {
      unregister_allocation(reinterpret_cast<void*>(slots[0]));
      std::free(reinterpret_cast<void*>(slots[0]));
      slots[0] = 0;
      return;
    }
    // The device library finds the slab of an address by its 2 MiB boundary.
    const std::size_t alignment = slots[1] >= slab ? slab : 4096;
    const std::size_t size = (slots[1] + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, size);
    slots[0] = reinterpret_cast<std::uint64_t>(memory);
    // As a whole: the device's allocator deals it out.
    if (memory != nullptr) register_allocation(memory, size, AllocationKind::variable);
  }

  std::mutex mutex_;
  std::vector<Header> headers_;
  std::vector<Payload> payloads_;
  std::array<std::uint64_t, 8> mailbox_{};
  Signal signal_;
  Buffer buffer_{};
  std::map<std::uint64_t, std::vector<std::uint64_t>> messages_;
  std::uint64_t last_message_ = 0;
};

}  // namespace

std::uint64_t hostcall_buffer_address() { return Hostcalls::instance().address(); }

// All zero: the device's allocator then asks for every slab by hostcall.
std::uint64_t device_heap_address() {
  static void* heap = [] {
    void* memory = std::aligned_alloc(4096, heap_size);
    std::memset(memory, 0, heap_size);
    register_allocation(memory, heap_size, AllocationKind::variable);
    return memory;
  }();
  return reinterpret_cast<std::uint64_t>(heap);
}

void serve_hostcalls() { Hostcalls::instance().serve(); }

}  // namespace cass::rdna3
