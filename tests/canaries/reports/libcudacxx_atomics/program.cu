// Slots of a hash table claimed by cuda::atomic_ref, with a scope as template argument.
#include <cuda/atomic>
#include <cstdio>

template <typename Key, cuda::thread_scope Scope = cuda::thread_scope_device>
struct Table {
  Key* slots;
  int capacity;

  __device__ int insert(Key key) {
    for (int i = 0; i < capacity; i++) {
      const int place = (key + i) % capacity;
      cuda::atomic_ref<Key, Scope> slot(slots[place]);
      Key expected = -1;
      if (slot.compare_exchange_strong(expected, key, cuda::memory_order_relaxed) || expected == key)
        return place;
    }
    return -1;
  }
};

__global__ void fill(Table<int> table, int* count) {
  table.insert(threadIdx.x % 20 * 3);
  cuda::atomic_ref<int, cuda::thread_scope_system> counter(*count);
  counter.fetch_add(2, cuda::memory_order_acq_rel);
}

int main() {
  Table<int> table{nullptr, 32};
  int* count;
  cudaMallocManaged(&table.slots, 32 * sizeof(int));
  cudaMallocManaged(&count, sizeof(int));
  for (int i = 0; i < 32; i++) table.slots[i] = -1;
  *count = 0;
  fill<<<2, 64>>>(table, count);
  cudaDeviceSynchronize();
  int used = 0, sum = 0;
  for (int i = 0; i < 32; i++)
    if (table.slots[i] >= 0) used++, sum += table.slots[i];
  printf("%d %d %d\n", used, sum, *count);
}
