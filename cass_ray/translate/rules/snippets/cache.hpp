#ifndef CASS_CACHE
#define CASS_CACHE
// Loads and stores with CUDA's cache hints; AMD's nearest hint is non-temporal.
namespace cass {
template <typename T> __device__ inline T ldcv(const T* p) { return *const_cast<const volatile T*>(p); }
template <typename T> __device__ inline T ldcs(const T* p) { return *p; }
template <typename T> __device__ inline T ldcg(const T* p) { return *p; }
template <typename T> __device__ inline T ldca(const T* p) { return *p; }
template <typename T> __device__ inline T ldlu(const T* p) { return *p; }
template <typename T, typename V> __device__ inline void stcg(T* p, V value) { *p = value; }
template <typename T, typename V> __device__ inline void stcs(T* p, V value) { *p = value; }
template <typename T, typename V> __device__ inline void stwb(T* p, V value) { *p = value; }
template <typename T, typename V> __device__ inline void stwt(T* p, V value) { *p = value; }
}  // namespace cass
#endif
