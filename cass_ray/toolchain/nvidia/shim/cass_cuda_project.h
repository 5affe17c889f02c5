/* What is included before units of projects, which are compiled by nvcc's way where clang does not accept them:
 * at three times the cost where they read PyTorch's headers. */
#include "cass_cuda.h"
#include "cass_host_math.h"
