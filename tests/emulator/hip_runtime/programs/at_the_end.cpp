// Calls of objects that are destroyed after main, when what the main thread has of its own is gone.
#include <cstdlib>

#include "expect.hpp"

struct Held {
  hipCtx_t context = nullptr;
  Held() { OK(hipCtxCreate(&context, 0, 0)); }
  ~Held() {
    int* memory = nullptr;
    OK(hipMallocManaged(reinterpret_cast<void**>(&memory), sizeof(int)));
    *memory = 0;
    OK(hipMemsetAsync(memory, 1, sizeof(int), hipStreamPerThread));
    OK(hipStreamSynchronize(hipStreamPerThread));
    EXPECT(*memory == 0x01010101);
    OK(hipFree(memory));
    OK(hipCtxDestroy(context));
    hipCtx_t now = nullptr;
    OK(hipCtxGetCurrent(&now));
    EXPECT(now != nullptr && now != context);
    const int status = report();
    std::fflush(stdout);
    std::_Exit(status);
  }
};

static Held held;

int main() {
  hipCtx_t now = nullptr;
  OK(hipCtxGetCurrent(&now));
  EXPECT(now == held.context);
  OK(hipStreamSynchronize(hipStreamPerThread));
}
