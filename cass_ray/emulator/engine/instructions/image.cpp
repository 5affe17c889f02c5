// Image loads, stores and samples (RDNA3 ISA, 15.8.1 MIMG, chapter 10). Lane by lane in image.cpp:
// addressing, formats and filters leave little to vectors.
#include "../image.hpp"

#include "operation.hpp"

namespace cass::amdgpu::CASS_EMULATOR_LEVEL {
namespace {

#define IMAGE(opcode_name)                           \
  FALLIBLE(opcode_name) {                            \
    w.current = ip;                                  \
    if (execute_image(w, *ip)) return true;          \
    stop(w, ip, WaveFault::unsupported_instruction); \
    return false;                                    \
  }
IMAGE(image_load)
IMAGE(image_load_mip)
IMAGE(image_store)
IMAGE(image_store_mip)
IMAGE(image_get_resinfo)
IMAGE(image_sample)
IMAGE(image_sample_d)
IMAGE(image_sample_d_g16)
IMAGE(image_sample_l)
IMAGE(image_sample_b)
IMAGE(image_sample_lz)
IMAGE(image_sample_cl)
IMAGE(image_sample_d_cl)
IMAGE(image_sample_d_cl_g16)
IMAGE(image_sample_b_cl)
IMAGE(image_sample_o)
IMAGE(image_sample_d_o)
IMAGE(image_sample_d_o_g16)
IMAGE(image_sample_l_o)
IMAGE(image_sample_b_o)
IMAGE(image_sample_lz_o)
IMAGE(image_sample_cl_o)
IMAGE(image_sample_d_cl_o)
IMAGE(image_sample_d_cl_o_g16)
IMAGE(image_sample_b_cl_o)
IMAGE(image_gather4)
IMAGE(image_gather4_l)
IMAGE(image_gather4_b)
IMAGE(image_gather4_lz)
IMAGE(image_gather4_cl)
IMAGE(image_gather4_b_cl)
IMAGE(image_gather4_o)
IMAGE(image_gather4_lz_o)

}  // namespace
}  // namespace cass::amdgpu::CASS_EMULATOR_LEVEL
