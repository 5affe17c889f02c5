// Keys are tuples of a hash and a ushort4; the comparator is a struct of the program's own.
#include <thrust/device_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/sort.h>
#include <thrust/tuple.h>
#include <cstdio>

typedef ushort4 Info;
typedef unsigned int Hash;

struct ByHashThenType {
  typedef thrust::tuple<Hash, Info> Key;
  __host__ __device__ bool operator()(const Key& a, const Key& b) const {
    const Hash hash_a = thrust::get<0>(a), hash_b = thrust::get<0>(b);
    const Info info_a = thrust::get<1>(a), info_b = thrust::get<1>(b);
    if (hash_a != hash_b) return hash_a < hash_b;
    if (info_a.x != info_b.x) return info_a.x < info_b.x;
    return info_a.y < info_b.y;
  }
};

int main() {
  const int count = 100;
  thrust::device_vector<Hash> hashes(count);
  thrust::device_vector<Info> infos(count);
  thrust::device_vector<int> values(count);
  for (int i = 0; i < count; i++) {
    hashes[i] = i * 7 % 5;
    infos[i] = make_ushort4(i % 3, count - i, 0, 0);
    values[i] = i;
  }
  const thrust::device_ptr<Info> info(thrust::raw_pointer_cast(infos.data()));
  const auto keys = thrust::make_zip_iterator(thrust::make_tuple(hashes.begin(), info));
  thrust::sort_by_key(keys, keys + count, values.begin(), ByHashThenType());
  long long check = 0;
  for (int i = 0; i < count; i++) check += static_cast<long long>(i + 1) * values[i];
  printf("%d %d %d %lld\n", static_cast<int>(values[0]), static_cast<int>(values[50]),
         static_cast<int>(values[99]), check);
}
