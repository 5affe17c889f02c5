// NVTX 2, which CUDA 13 took away, by the header that its release notes name in its place.
#pragma once
#include <nvtx3/nvToolsExtCuda.h>
