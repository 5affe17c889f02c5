#include "aperture.hpp"

#include <sys/mman.h>

namespace cass::amdgpu {

bool reserve_aperture() {
  void* wanted = reinterpret_cast<void*>(aperture - aperture_guard);
  constexpr std::size_t bytes = aperture_size + 2 * aperture_guard;
  void* made = ::mmap(wanted, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (made == MAP_FAILED) return false;
  if (made != wanted) {  // kernels before 4.17 do not know the flag
    ::munmap(made, bytes);
    return false;
  }
  ::madvise(made, bytes, MADV_DONTDUMP);
  return true;
}

}  // namespace cass::amdgpu
