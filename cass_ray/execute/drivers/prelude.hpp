// --- driver ---
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

static void cass_check(GPU_Error_t status) {
  if (status == GPU_Success) return;
  printf("failed: %s\n", GPU_GetErrorName(status));
  exit(3);
}

struct CassRun {
  long long elements, threads, blocks, seed, side, capacity, width, height, edges;
  dim3 grid(bool plane) const {
    if (plane)
      return dim3((unsigned)((side + width - 1) / width), (unsigned)((side + height - 1) / height));
    return dim3((unsigned)(blocks ? blocks : (elements + threads - 1) / threads));
  }
  dim3 block(bool plane) const {
    return plane ? dim3((unsigned)width, (unsigned)height) : dim3((unsigned)threads);
  }
};

static inline float cass_value(unsigned bits, float*) { return (bits >> 8) / 16777216.0f; }
static inline double cass_value(unsigned bits, double*) { return (bits >> 8) / 16777216.0; }
template <typename T>
static T cass_value(unsigned bits, T*) { return (T)((bits >> 8) % 97); }

static const double cass_edges[] = {EDGES};

// Numbers of the program, and those beside them: a bound shows where values lie on both sides.
template <typename T>
static T cass_edge(unsigned bits, T*) {
  double value = cass_edges[(bits >> 12) % (sizeof cass_edges / sizeof cass_edges[0])];
  switch ((bits >> 8) % 6) {
    case 1: value = -value; break;
    case 2: value *= 2; break;
    case 3: value /= 2; break;
    case 4: value += 1; break;
    case 5: value -= 1; break;
  }
  if ((T)1 / (T)2 != (T)0) return (T)value;
  return value > -9e18 && value < 9e18 ? (T)(long long)value : (T)0;
}

// The beginning value by value, the rest as sums of 16: one wrong element must not drown.
template <typename T>
static void cass_summary(const T* values, long long count, bool real) {
  const long long single = count < 6000 ? count : 6000;
  for (long long i = 0; i < single; ++i) {
    if (real) printf(" %.9g", (double)values[i]);
    else printf(" %lld", (long long)values[i]);
  }
  for (long long i = single; i < count; i += 16) {
    double sum = 0;
    for (long long k = i; k < i + 16 && k < count; ++k) sum += (double)values[k];
    printf(" %.9g", sum);
  }
  printf("\n");
}

// For a parameter that points to integers of the same size with another sign, too.
template <typename T>
struct CassPointer {
  T* device;
  template <typename Other>
  operator Other*() const {
    return (Other*)device;
  }
};

template <typename T>
struct CassBuffer {
  T* device;
  long long count;
  CassBuffer(const CassRun& run, int number) : count(run.capacity) {
    std::vector<unsigned char> bytes(count * sizeof(T));
    T* host = (T*)bytes.data();
    unsigned state = (unsigned)run.seed * 2654435761u + number * 40503u + 1;
    for (long long i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      host[i] = cass_value(state, (T*)0);
      const bool real = (T)1 / (T)2 != (T)0;
      if (run.edges > !real && state >> 30) host[i] = cass_edge(state, (T*)0);
    }
    cass_check(GPU_Malloc((void**)&device, count * sizeof(T)));
    cass_check(GPU_Memcpy(device, host, count * sizeof(T), GPU_MemcpyHostToDevice));
  }
  ~CassBuffer() { cass_check(GPU_Free(device)); }
  void print(const char* name) const {
    std::vector<unsigned char> bytes(count * sizeof(T));
    cass_check(GPU_Memcpy(bytes.data(), device, count * sizeof(T), GPU_MemcpyDeviceToHost));
    printf("%s", name);
    cass_summary((const T*)bytes.data(), count, (T)1 / (T)2 != (T)0);
  }
};
