// Forced in before every HIP unit: the HIP runtime, then what CUDA code still needs after its
// names have been translated. One precompiled header holds all of it.
#pragma once

#include <hip/hip_runtime.h>

#include "cuda_device.h"
#include "cuda_warp.h"

#include "cooperative_groups_reduce.h"
