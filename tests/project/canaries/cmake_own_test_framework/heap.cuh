#pragma once
template <typename Key, int Capacity>
struct Heap {
  Key keys[Capacity];
  int size;
  __host__ __device__ void push(Key key) {
    int place = size++;
    for (; place > 0 && key < keys[(place - 1) / 2]; place = (place - 1) / 2) keys[place] = keys[(place - 1) / 2];
    keys[place] = key;
  }
  __host__ __device__ Key pop() {
    const Key top = keys[0], last = keys[--size];
    int place = 0;
    for (int child; (child = 2 * place + 1) < size; place = child) {
      if (child + 1 < size && keys[child + 1] < keys[child]) ++child;
      if (!(keys[child] < last)) break;
      keys[place] = keys[child];
    }
    keys[place] = last;
    return top;
  }
};
