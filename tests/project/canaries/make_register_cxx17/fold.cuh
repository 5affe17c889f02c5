template <typename T>
__device__ T fold(const T* values, register int n) {
  register T sum = T();
  for (register int i = 0; i < n; i++) sum += values[i];
  return sum;
}
