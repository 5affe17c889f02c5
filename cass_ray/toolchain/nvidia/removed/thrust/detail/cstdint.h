// thrust::detail's names of the integers of fixed width.
#pragma once
#include <thrust/detail/config.h>

#include <cstdint>

THRUST_NAMESPACE_BEGIN
namespace detail {
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
}  // namespace detail
THRUST_NAMESPACE_END
