// Sizes of signal stacks as constants, which glibc's are no more since 2.34: Catch's single header
// has them in a constant. The values are those of glibc 2.33 for x86-64 (bits/sigstack.h).
#pragma once
#include <signal.h>
#undef MINSIGSTKSZ
#define MINSIGSTKSZ 2048
#undef SIGSTKSZ
#define SIGSTKSZ 8192
