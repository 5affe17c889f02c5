#include <iostream>
#include "device.hpp"
namespace mine {
namespace cuda = ::cuda;
__global__ void clamp(int* out) { out[threadIdx.x] = cuda::math::max(2, cuda::math::min<int>(threadIdx.x, 5)); }
}  // namespace mine
using cuda::array;
int main() {
  array<int> values(8);
  mine::clamp<<<1, 8>>>(values.data());
  int host[8];
  values.read(host);
  for (int value : host) std::cout << value << ' ';
  try {
    ::cuda::check(cudaMemset(nullptr, 0, 16));
  } catch (const cuda::error& error) {
    std::cout << error.what() << '\n';
  }
}
