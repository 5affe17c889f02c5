// rocThrust's takes the system for CUDA where it is read before what says that it is HIP.
#pragma once
#if __has_include(<thrust/detail/config/compiler.h>)
#include <thrust/detail/config/compiler.h>
#include <thrust/detail/config/device_system.h>
#endif
#include_next <thrust/version.h>
