// Threads of all workgroups store and load one place of 8 or 16 bytes: no load sees parts of two
// stores. Every value that is stored has the same dword throughout.
#include <hip/hip_runtime.h>

#include <cstdio>

template <class Words>
__global__ void race(Words* place, unsigned* torn, int rounds) {
  constexpr int count = sizeof(Words) / 4;
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x + 1;
  for (int k = 0; k < rounds; ++k) {
    const Words seen = __builtin_nontemporal_load(place);
    for (int word = 1; word < count; ++word) {
      if (seen[word] != seen[0]) atomicAdd(torn, 1);
    }
    Words value;
    for (int word = 0; word < count; ++word) value[word] = own + 1000 * k;
    __builtin_nontemporal_store(value, place);
    asm volatile("" ::: "memory");
  }
}

template <class Words>
void run(const char* name) {
  Words* place;
  unsigned *torn, found;
  if (hipMalloc(&place, sizeof(Words)) || hipMalloc(&torn, 4)) return;
  (void)hipMemset(place, 0, sizeof(Words));
  (void)hipMemset(torn, 0, 4);
  race<<<16, 64>>>(place, torn, 100000);
  (void)hipMemcpy(&found, torn, 4, hipMemcpyDeviceToHost);
  std::printf("%s: %u torn\n", name, found);
}

int main() {
  typedef unsigned Two __attribute__((ext_vector_type(2)));
  typedef unsigned Four __attribute__((ext_vector_type(4)));
  run<Two>("8 bytes");
  run<Four>("16 bytes");
}
