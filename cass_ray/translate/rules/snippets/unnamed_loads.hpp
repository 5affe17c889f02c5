#ifndef CASS_UNNAMED_LOADS
#define CASS_UNNAMED_LOADS
#if defined(__HIP_PLATFORM_AMD__) && defined(__HIPCC__)
// HIP's __ldg of halves is in an unnamed namespace, where it hides all others from functions there.
namespace {
using ::__ldg;
}
#endif
#endif
