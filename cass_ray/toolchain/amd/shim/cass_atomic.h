// cuda::atomic and cuda::atomic_ref of libcu++ for installations without AMD's libhipcxx, which goes
// before this where it is there. Orders and scopes are those of clang's __hip_atomic builtins.
#pragma once

#include <hip/hip_runtime.h>

#include <stddef.h>
#include <type_traits>

#if __has_include(<cuda/std/__atomic/order.h>)  // libcu++ itself: its orders and scopes
#include <cuda/std/__atomic/order.h>
#include <cuda/std/__atomic/scopes.h>
#else
namespace cuda {
namespace std {
enum class memory_order {
  relaxed = __ATOMIC_RELAXED,
  consume = __ATOMIC_CONSUME,
  acquire = __ATOMIC_ACQUIRE,
  release = __ATOMIC_RELEASE,
  acq_rel = __ATOMIC_ACQ_REL,
  seq_cst = __ATOMIC_SEQ_CST
};
inline constexpr memory_order memory_order_relaxed = memory_order::relaxed;
inline constexpr memory_order memory_order_consume = memory_order::consume;
inline constexpr memory_order memory_order_acquire = memory_order::acquire;
inline constexpr memory_order memory_order_release = memory_order::release;
inline constexpr memory_order memory_order_acq_rel = memory_order::acq_rel;
inline constexpr memory_order memory_order_seq_cst = memory_order::seq_cst;
enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread = 10
};
}  // namespace std

using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
using std::thread_scope;
using std::thread_scope_block;
using std::thread_scope_device;
using std::thread_scope_system;
using std::thread_scope_thread;
}  // namespace cuda
#endif

namespace cuda {
namespace detail {
constexpr int of_hip(thread_scope scope) {
  return scope == thread_scope_system   ? __HIP_MEMORY_SCOPE_SYSTEM
         : scope == thread_scope_device ? __HIP_MEMORY_SCOPE_AGENT
         : scope == thread_scope_block  ? __HIP_MEMORY_SCOPE_WORKGROUP
                                        : __HIP_MEMORY_SCOPE_SINGLETHREAD;
}

template <size_t Bytes>
struct word {
  static_assert(Bytes == 0, "libcu++ takes a lock for objects of other sizes than 1, 2, 4 and 8 "
                            "bytes, which lanes of one wavefront cannot do for each other");
};
template <>
struct word<1> {
  using type = unsigned char;
};
template <>
struct word<2> {
  using type = unsigned short;
};
template <>
struct word<4> {
  using type = unsigned int;
};
template <>
struct word<8> {
  using type = unsigned long long;
};

// What is not a number or a pointer is moved as an integer of its size.
template <typename T, bool IsPlain = ::std::is_scalar<T>::value && !::std::is_enum<T>::value>
struct stored {
  using type = T;
};
template <typename T>
struct stored<T, false> {
  static_assert(::std::is_trivially_copyable<T>::value, "atomic objects are trivially copyable");
  using type = typename word<sizeof(T)>::type;
};

// The order of a failed exchange, as the standard derives it.
__host__ __device__ constexpr int failed(memory_order order) {
  return order == memory_order_acq_rel   ? __ATOMIC_ACQUIRE
         : order == memory_order_release ? __ATOMIC_RELAXED
                                         : static_cast<int>(order);
}

#define CASS_OF_NUMBERS(NAME)                                                          \
  __host__ __device__ T fetch_##NAME(T value, memory_order order = memory_order_seq_cst) const { \
    return __hip_atomic_fetch_##NAME(place(), value, static_cast<int>(order), of_hip(Scope));   \
  }

// What `Object`, which knows the place, can do.
template <typename Object, typename T, thread_scope Scope>
class operations {
  using S = typename stored<T>::type;

 public:
  using value_type = T;

  __host__ __device__ void store(T value, memory_order order = memory_order_seq_cst) const {
    __hip_atomic_store(words(), bits(value), static_cast<int>(order), of_hip(Scope));
  }
  __host__ __device__ T load(memory_order order = memory_order_seq_cst) const {
    return value(__hip_atomic_load(words(), static_cast<int>(order), of_hip(Scope)));
  }
  __host__ __device__ operator T() const { return load(); }
  __host__ __device__ T exchange(T given, memory_order order = memory_order_seq_cst) const {
    return value(__hip_atomic_exchange(words(), bits(given), static_cast<int>(order), of_hip(Scope)));
  }
  __host__ __device__ bool compare_exchange_strong(T& expected, T desired, memory_order success,
                                                   memory_order failure) const {
    S was = bits(expected);
    const bool done =
        __hip_atomic_compare_exchange_strong(words(), &was, bits(desired), static_cast<int>(success),
                                             static_cast<int>(failure), of_hip(Scope));
    if (!done) expected = value(was);
    return done;
  }
  __host__ __device__ bool compare_exchange_strong(
      T& expected, T desired, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, desired, order,
                                   static_cast<memory_order>(failed(order)));
  }
  __host__ __device__ bool compare_exchange_weak(T& expected, T desired, memory_order success,
                                                 memory_order failure) const {
    return compare_exchange_strong(expected, desired, success, failure);
  }
  __host__ __device__ bool compare_exchange_weak(
      T& expected, T desired, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, desired, order);
  }
  __host__ __device__ void wait(T old, memory_order order = memory_order_seq_cst) const {
    while (bits(load(order)) == bits(old)) {
    }
  }
  // Who waits looks again and again.
  __host__ __device__ void notify_one() const {}
  __host__ __device__ void notify_all() const {}
  __host__ __device__ bool is_lock_free() const { return true; }

  CASS_OF_NUMBERS(add)
  CASS_OF_NUMBERS(and)
  CASS_OF_NUMBERS(or)
  CASS_OF_NUMBERS(xor)
  CASS_OF_NUMBERS(min)
  CASS_OF_NUMBERS(max)
  __host__ __device__ T fetch_sub(T value, memory_order order = memory_order_seq_cst) const {
    return fetch_add(static_cast<T>(-value), order);
  }
  __host__ __device__ T operator+=(T value) const { return static_cast<T>(fetch_add(value) + value); }
  __host__ __device__ T operator-=(T value) const { return static_cast<T>(fetch_sub(value) - value); }
  __host__ __device__ T operator&=(T value) const { return static_cast<T>(fetch_and(value) & value); }
  __host__ __device__ T operator|=(T value) const { return static_cast<T>(fetch_or(value) | value); }
  __host__ __device__ T operator^=(T value) const { return static_cast<T>(fetch_xor(value) ^ value); }
  __host__ __device__ T operator++() const { return static_cast<T>(fetch_add(T(1)) + T(1)); }
  __host__ __device__ T operator--() const { return static_cast<T>(fetch_sub(T(1)) - T(1)); }
  __host__ __device__ T operator++(int) const { return fetch_add(T(1)); }
  __host__ __device__ T operator--(int) const { return fetch_sub(T(1)); }

 protected:
  operations() = default;
  __host__ __device__ T* place() const { return static_cast<const Object*>(this)->place(); }
  __host__ __device__ S* words() const { return reinterpret_cast<S*>(place()); }
  __host__ __device__ static S bits(const T& given) {
    S made;
    __builtin_memcpy(&made, &given, sizeof made);
    return made;
  }
  __host__ __device__ static T value(const S& given) {
    T made;
    __builtin_memcpy(&made, &given, sizeof made);
    return made;
  }
};
#undef CASS_OF_NUMBERS
}  // namespace detail

template <typename T, thread_scope Scope = thread_scope_system>
class atomic : public detail::operations<atomic<T, Scope>, T, Scope> {
 public:
  atomic() = default;  // shared memory takes no other
  __host__ __device__ constexpr atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  __host__ __device__ T operator=(T value) {
    this->store(value);
    return value;
  }
  __host__ __device__ T* place() const { return &value_; }

 private:
  alignas(sizeof(T)) mutable T value_;
};

template <typename T, thread_scope Scope = thread_scope_system>
class atomic_ref : public detail::operations<atomic_ref<T, Scope>, T, Scope> {
 public:
  __host__ __device__ explicit atomic_ref(T& of) : place_(&of) {}
  __host__ __device__ T operator=(T value) const {
    this->store(value);
    return value;
  }
  __host__ __device__ T* place() const { return place_; }

 private:
  T* place_;
};

// A fence of all orders: no weaker than what is asked for.
__host__ __device__ inline void atomic_thread_fence(memory_order order,
                                                    thread_scope scope = thread_scope_system) {
  if (order == memory_order_relaxed) return;
#ifdef __HIP_DEVICE_COMPILE__
  switch (scope) {
    case thread_scope_thread: break;
    case thread_scope_block: __threadfence_block(); break;
    case thread_scope_device: __threadfence(); break;
    default: __threadfence_system();
  }
#else
  (void)scope;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

namespace std {
template <typename T>
using atomic = cuda::atomic<T, thread_scope_system>;
template <typename T>
using atomic_ref = cuda::atomic_ref<T, thread_scope_system>;
using cuda::atomic_thread_fence;
}  // namespace std
}  // namespace cuda
