// Kernels that objects launch when they are destroyed, whose errors nobody asks for.
#include <hip/hip_runtime.h>

#include <cstdio>

static bool launch;

__global__ void nothing() {}

struct Object {
  explicit Object(const char* when) : when_(when) {}
  ~Object() {
    if (launch) nothing<<<1, 1>>>();
    std::puts(when_);
  }
  const char* when_;
};

static Object object("of a file");

int main(int count, char**) {
  static Object inside("of a function");
  launch = count > 1;
}
