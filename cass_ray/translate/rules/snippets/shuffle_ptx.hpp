#ifndef CASS_SHUFFLE_PTX
#define CASS_SHUFFLE_PTX
#if defined(__HIPCC__)
// PTX's shfl with a width that is known when it runs, or with its predicate: whether the lane that
// was asked for is in range (PTX ISA 8.5, 9.7.8.6). `control` has the clamp in bits 0 to 4 and the
// mask of segments in bits 8 to 12.
namespace cass {
enum class Shuffle { up, down, bfly, idx };
template <Shuffle Mode>
__device__ inline unsigned int shuffle(unsigned int value, unsigned int b, unsigned int control, bool& in_range) {
    const unsigned int own = lane(), segment = control >> 8 & 31u, clamp = control & 31u;
    const int first = own & segment, last = first | (clamp & ~segment);
    const int offset = b & 31u, at = own;
    int from = Mode == Shuffle::up     ? at - offset
               : Mode == Shuffle::down ? at + offset
               : Mode == Shuffle::bfly ? at ^ offset
                                       : first | (offset & static_cast<int>(~segment));
    in_range = Mode == Shuffle::up ? from >= last : from <= last;
    if (!in_range) from = at;
#ifdef __HIP_PLATFORM_NVIDIA__
    return __shfl_sync(__activemask(), value, from, 32);
#else
    return __shfl(value, from, 32);
#endif
}
}  // namespace cass
#endif
#endif
