#ifndef CASS_VERSIONS
#define CASS_VERSIONS
#include <cstddef>
namespace cass {
// What CUDART_VERSION is replaced with as well: hipBLAS does not say.
inline std::size_t cublas_cudart_version() { return 11080; }
}  // namespace cass
#endif
