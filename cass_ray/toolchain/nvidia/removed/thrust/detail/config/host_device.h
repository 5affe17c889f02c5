// Defined __host__ and __device__ for compilers without them.
#pragma once
#include <thrust/detail/config.h>
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
