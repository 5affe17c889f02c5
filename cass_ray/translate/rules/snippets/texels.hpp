#ifndef CASS_TEXELS
#define CASS_TEXELS
#if CASS_SOFTWARE_IMAGES
// Texels as the CUDA C++ Programming Guide's "Texture Fetching" has them: nearest is texel floor(x);
// linear blends around x - 0.5 with weights of 8 bits of fraction, rounded to the nearest, here in
// double precision and rounded to float once. As image instructions do, a fetch gives four words.
namespace cass {
struct texel {
    unsigned int word[4];
};
__device__ inline texel load_texel(constant_image i, int x, int y, int z) {
    typedef const unsigned char __attribute__((address_space(1))) * bytes_pointer;
    typedef const unsigned short __attribute__((address_space(1))) * halves_pointer;
    typedef const unsigned int __attribute__((address_space(1))) * words_pointer;
    const int width = i->channels * i->bytes;
    const bytes_pointer place = (bytes_pointer)i->data + z * i->slice + y * i->row + static_cast<size_t>(x) * width;
    unsigned int raw[4] = {};
    if (width == 1) {
        raw[0] = *place;
    } else if (width == 2) {
        raw[0] = *(halves_pointer)place;
    } else {
        const words_pointer words = (words_pointer)place;
        raw[0] = words[0];
        if (width > 4) raw[1] = words[1];
        if (width > 8) raw[2] = words[2], raw[3] = words[3];
    }
    const bool is_float = i->kind == hipChannelFormatKindFloat || i->as_float;
    texel found = {0, 0, 0, is_float ? __float_as_uint(1.0f) : 1};  // what channels are that the format has not
    const int bits = 8 * i->bytes, unused = 32 - bits;
    for (int channel = 0; channel < i->channels; ++channel) {
        const int first = channel * bits;
        const unsigned int field = (first < 64 ? first < 32 ? raw[0] : raw[1] : first < 96 ? raw[2] : raw[3]) >> first % 32 << unused;
        unsigned int& value = found.word[channel];
        if (i->kind == hipChannelFormatKindSigned) {
            const int number = static_cast<int>(field) >> unused;
            const float largest = bits == 8 ? 127.0f : 32767.0f;
            value = i->as_float ? __float_as_uint(fmaxf(number / largest, -1.0f)) : number;
        } else {
            value = field >> unused;
            if (i->as_float) value = __float_as_uint(value / (bits == 8 ? 255.0f : 65535.0f));
            if (i->kind == hipChannelFormatKindFloat && bits == 16) {
                value = __float_as_uint(__builtin_bit_cast(_Float16, static_cast<unsigned short>(value)));
            }
        }
    }
    return found;
}
// The texel that index `at` of an axis names; -1 for the border.
__device__ inline int addressed(int at, int size, int mode) {
    if (mode == hipAddressModeWrap) return (at % size + size) % size;
    if (mode == hipAddressModeMirror) {
        const int place = (at % (2 * size) + 2 * size) % (2 * size);
        return place < size ? place : 2 * size - 1 - place;
    }
    if (mode == hipAddressModeBorder && (at < 0 || at >= size)) return -1;
    return at < 0 ? 0 : at >= size ? size - 1 : at;
}
template <int axes> __device__ inline texel addressed_texel(constant_image i, const int (&at)[axes], int layer) {
    int inside[3] = {0, 0, layer};
    for (int axis = 0; axis < axes; ++axis) {
        inside[axis] = addressed(at[axis], i->size[axis], i->address[axis]);
        if (inside[axis] >= 0) continue;
        texel border = {0, 0, 0, 0};
        if (i->kind == hipChannelFormatKindFloat) {
            for (int channel = 0; channel < 4; ++channel) border.word[channel] = __float_as_uint(i->border[channel]);
        }
        return border;
    }
    return load_texel(i, inside[0], inside[1], inside[2]);
}
// Where a coordinate lies, in texels; what is far outside is as good as just outside.
__device__ inline double texel_place(constant_image i, int axis, float coordinate) {
    const double size = i->size[axis];
    double place = coordinate == coordinate ? coordinate : 0.0f;
    if (i->normalized) {
        if (i->address[axis] == hipAddressModeWrap) place -= floor(place);
        if (i->address[axis] == hipAddressModeMirror) place -= 2 * floor(place / 2);
        place *= size;
    }
    return fmin(fmax(place, -2.0), 2 * size + 2);
}
// The first of the two texels of a linear axis, and the weight of the second.
__device__ inline int first_texel(double place, double* weight) {
    const double fixed = rint(place * 256) - 128;
    const double first = floor(fixed / 256);
    *weight = fixed / 256 - first;
    return static_cast<int>(first);
}
template <int axes> __device__ inline texel sample_image(constant_image i, const float (&coordinates)[axes], int layer = 0) {
    layer = layer < 0 ? 0 : layer >= i->layers ? i->layers - 1 : layer;
    int first[axes];
    double upper[axes];
    if (!i->linear) {
        for (int axis = 0; axis < axes; ++axis) first[axis] = static_cast<int>(floor(texel_place(i, axis, coordinates[axis])));
        return addressed_texel<axes>(i, first, layer);
    }
    for (int axis = 0; axis < axes; ++axis) first[axis] = first_texel(texel_place(i, axis, coordinates[axis]), &upper[axis]);
    double sum[4] = {};
    for (int corner = 0; corner < 1 << axes; ++corner) {
        int at[axes];
        double weight = 1;
        for (int axis = 0; axis < axes; ++axis) {
            const int step = corner >> axis & 1;
            at[axis] = first[axis] + step;
            weight *= step ? upper[axis] : 1 - upper[axis];
        }
        if (weight == 0) continue;
        const texel found = addressed_texel<axes>(i, at, layer);
        for (int channel = 0; channel < 4; ++channel) sum[channel] += weight * __uint_as_float(found.word[channel]);
    }
    texel blended;
    for (int channel = 0; channel < 4; ++channel) blended.word[channel] = __float_as_uint(static_cast<float>(sum[channel]));
    return blended;
}
template <typename T> struct texel_as {
    __device__ static T channel(unsigned int word) { return static_cast<T>(word); }
    __device__ static T of(const texel& t) { return channel(t.word[0]); }
};
template <> __device__ inline float texel_as<float>::channel(unsigned int word) { return __uint_as_float(word); }
template <typename T, unsigned int rank> struct texel_as<HIP_vector_type<T, rank>> {
    __device__ static HIP_vector_type<T, rank> of(const texel& t) {
        HIP_vector_type<T, rank> value;
        value.x = texel_as<T>::channel(t.word[0]);
        if constexpr (rank > 1) value.y = texel_as<T>::channel(t.word[1]);
        if constexpr (rank > 2) value.z = texel_as<T>::channel(t.word[2]);
        if constexpr (rank > 3) value.w = texel_as<T>::channel(t.word[3]);
        return value;
    }
};
}  // namespace cass
#endif
#endif
