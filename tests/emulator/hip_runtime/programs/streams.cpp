// Order within and between streams, events, host functions. No kernel needed.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "expect.hpp"

// Holds a stream back until the program lets it go.
struct Gate {
  std::mutex guard;
  std::condition_variable changed;
  bool open = false;

  static void wait(void* data) {
    auto& gate = *static_cast<Gate*>(data);
    std::unique_lock<std::mutex> lock(gate.guard);
    gate.changed.wait(lock, [&] { return gate.open; });
  }
  void release() {
    const std::lock_guard<std::mutex> lock(guard);
    open = true;
    changed.notify_all();
  }
};

static std::atomic<int> counter = 0;

static void count_to(void* target) { *static_cast<int*>(target) = ++counter; }

static void order_in_a_stream() {
  hipStream_t stream = nullptr;
  OK(hipStreamCreate(&stream));
  Gate gate;
  int order[3] = {};
  counter = 0;
  OK(hipLaunchHostFunc(stream, Gate::wait, &gate));
  for (int& place : order) OK(hipLaunchHostFunc(stream, count_to, &place));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(stream));
  EXPECT(order[0] == 0);  // nothing has run: launching does not wait
  gate.release();
  OK(hipStreamSynchronize(stream));
  OK(hipStreamQuery(stream));
  EXPECT(order[0] == 1 && order[1] == 2 && order[2] == 3);
  OK(hipStreamDestroy(stream));
}

// CUDA leaves the order open; a program that is compared with its port must not depend on time.
static void streams_take_turns() {
  hipStream_t first = nullptr;
  hipStream_t second = nullptr;
  OK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  OK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  std::vector<int> places(2000);
  int last = 0;
  counter = 0;
  for (int& place : places) OK(hipLaunchHostFunc(first, count_to, &place));
  OK(hipLaunchHostFunc(second, count_to, &last));
  OK(hipStreamSynchronize(second));
  EXPECT(places.front() == 1 && places.back() == 2000 && last == 2001);
  OK(hipStreamDestroy(first));
  OK(hipStreamDestroy(second));
}

static void streams_run_at_once() {
  hipStream_t first = nullptr;
  hipStream_t second = nullptr;
  OK(hipStreamCreate(&first));
  OK(hipStreamCreate(&second));
  Gate gate;
  int done = 0;
  counter = 0;
  OK(hipLaunchHostFunc(first, Gate::wait, &gate));
  OK(hipLaunchHostFunc(second, count_to, &done));
  OK(hipStreamSynchronize(second));  // would hang if one waited for the other
  EXPECT(done == 1);
  gate.release();
  OK(hipDeviceSynchronize());
  OK(hipStreamDestroy(first));
  OK(hipStreamDestroy(second));
}

static void null_stream_waits_for_blocking_streams() {
  hipStream_t blocking = nullptr;
  hipStream_t free = nullptr;
  OK(hipStreamCreate(&blocking));
  OK(hipStreamCreateWithFlags(&free, hipStreamNonBlocking));
  Gate gate;
  int on_null = 0;
  int after_null = 0;
  int on_free = 0;
  counter = 0;
  OK(hipLaunchHostFunc(blocking, Gate::wait, &gate));
  OK(hipLaunchHostFunc(nullptr, count_to, &on_null));
  OK(hipLaunchHostFunc(blocking, count_to, &after_null));
  OK(hipLaunchHostFunc(free, count_to, &on_free));
  OK(hipStreamSynchronize(free));
  EXPECT(on_free == 1 && on_null == 0);
  gate.release();
  OK(hipDeviceSynchronize());
  EXPECT(on_null == 2 && after_null == 3);
  OK(hipStreamDestroy(blocking));
  OK(hipStreamDestroy(free));
}

static void events() {
  hipStream_t first = nullptr;
  hipStream_t second = nullptr;
  hipEvent_t reached = nullptr;
  hipEvent_t later = nullptr;
  OK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  OK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  OK(hipEventCreate(&reached));
  OK(hipEventCreate(&later));
  float milliseconds = -1;
  OK(hipEventQuery(reached));  // never recorded
  EXPECT_HIP(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, reached, later));
  Gate gate;
  int before = 0;
  int after = 0;
  counter = 0;
  OK(hipLaunchHostFunc(first, Gate::wait, &gate));
  OK(hipLaunchHostFunc(first, count_to, &before));
  OK(hipEventRecord(reached, first));
  OK(hipStreamWaitEvent(second, reached, 0));
  OK(hipLaunchHostFunc(second, count_to, &after));
  OK(hipEventRecord(later, second));
  EXPECT_HIP(hipErrorNotReady, hipEventQuery(reached));
  EXPECT_HIP(hipErrorNotReady, hipEventElapsedTime(&milliseconds, reached, later));
  gate.release();
  OK(hipEventSynchronize(later));
  OK(hipEventQuery(reached));
  EXPECT(before == 1 && after == 2);
  OK(hipEventElapsedTime(&milliseconds, reached, later));
  EXPECT(milliseconds >= 0);
  OK(hipEventDestroy(reached));
  EXPECT_HIP(hipErrorContextIsDestroyed, hipEventDestroy(reached));
  OK(hipEventDestroy(later));
  OK(hipStreamDestroy(first));
  OK(hipStreamDestroy(second));
  EXPECT_HIP(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, reached, later));
}

static void callback(hipStream_t stream, hipError_t status, void* data) {
  *static_cast<bool*>(data) = stream == nullptr && status == hipSuccess;
}

static void callbacks_and_values() {
  bool called = false;
  OK(hipStreamAddCallback(nullptr, callback, &called, 0));
  OK(hipStreamSynchronize(nullptr));
  EXPECT(called);
  hipStream_t waiting = nullptr;
  hipStream_t writing = nullptr;
  OK(hipStreamCreateWithFlags(&waiting, hipStreamNonBlocking));
  OK(hipStreamCreateWithFlags(&writing, hipStreamNonBlocking));
  std::uint64_t* word = nullptr;
  OK(hipHostMalloc(reinterpret_cast<void**>(&word), 8, hipHostMallocDefault));
  *word = 0;
  OK(hipStreamWaitValue64(waiting, word, 3, hipStreamWaitValueGte, ~0ull));
  EXPECT_HIP(hipErrorNotReady, hipStreamQuery(waiting));
  OK(hipStreamWriteValue64(writing, word, 5, 0));
  OK(hipStreamSynchronize(waiting));
  EXPECT(*word == 5);
  OK(hipHostFree(word));
  OK(hipStreamDestroy(waiting));
  OK(hipStreamDestroy(writing));
}

static void handles() {
  hipStream_t stream = nullptr;
  EXPECT_HIP(hipErrorInvalidValue, hipStreamCreate(nullptr));
  EXPECT_HIP(hipErrorInvalidValue, hipStreamCreateWithFlags(&stream, 0x10));
  OK(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -5));
  int priority = 0;
  unsigned flags = 0;
  OK(hipStreamGetPriority(stream, &priority));
  OK(hipStreamGetFlags(stream, &flags));
  EXPECT(priority == -1 && flags == hipStreamNonBlocking);
  OK(hipStreamDestroy(stream));
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamSynchronize(stream));
  EXPECT_HIP(hipErrorInvalidHandle, hipStreamDestroy(nullptr));
}

static void many_threads() {
  constexpr int threads = 8;
  constexpr int rounds = 200;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < threads; ++worker) {
    workers.emplace_back([&, worker] {
      hipStream_t stream = nullptr;
      int* memory = nullptr;
      wrong += hipStreamCreate(&stream) != hipSuccess;
      wrong += hipMalloc(reinterpret_cast<void**>(&memory), 64) != hipSuccess;
      for (int round = 0; round < rounds; ++round) {
        const int sent = worker * rounds + round;
        int received = -1;
        wrong += hipMemcpyAsync(memory, &sent, 4, hipMemcpyHostToDevice, stream) != hipSuccess;
        wrong += hipMemcpyAsync(&received, memory, 4, hipMemcpyDeviceToHost, stream) != hipSuccess;
        wrong += hipStreamSynchronize(stream) != hipSuccess;
        wrong += received != sent;
      }
      wrong += hipFree(memory) != hipSuccess;
      wrong += hipStreamDestroy(stream) != hipSuccess;
    });
  }
  for (auto& worker : workers) worker.join();
  EXPECT(wrong == 0);
}

int main() {
  order_in_a_stream();
  streams_take_turns();
  streams_run_at_once();
  null_stream_waits_for_blocking_streams();
  events();
  callbacks_and_values();
  handles();
  many_threads();
  return report();
}
