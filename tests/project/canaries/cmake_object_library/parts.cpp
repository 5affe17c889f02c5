#include <future>
#include <stdexcept>
#include <vector>
void scale_all(int*, int);
void shift_all(int*, int);
void* get(unsigned long);
void wait();
std::vector<int> parts(int n) {
  if (n > 32) throw std::out_of_range("parts");
  int* v = static_cast<int*>(get(n * sizeof(int)));
  for (int i = 0; i < n; ++i) v[i] = i;
  std::async(std::launch::async, [=] { scale_all(v, n); shift_all(v, n); wait(); }).get();
  return {v, v + n};
}
