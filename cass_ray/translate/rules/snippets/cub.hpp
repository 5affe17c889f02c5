#ifndef CASS_CUB
#define CASS_CUB
#include <cstdlib>
// CUB's macro that ends the program at an error, by hipCUB's that reports one.
#define CASS_CUB_DEBUG_EXIT(error)       \
    do {                                 \
        if (HipcubDebug(error)) exit(1); \
    } while (0)
#endif
