#ifndef CASS_HOST_CONSTANTS
#define CASS_HOST_CONSTANTS
// Constants that host code reads as well: clang gives the host none of the values of the device's.
#ifdef __HIP_DEVICE_COMPILE__
#define CASS_ON_DEVICE(...) __VA_ARGS__
#else
#define CASS_ON_DEVICE(...)
#endif
#endif
