#include "epilogue.h"

#include "hipblaslt/hipblaslt.h"

#include <cmath>
#include <cstring>

namespace cass {
namespace {

// GELU by tanh, as cuBLASLt and hipBLASLt have it.
constexpr double kSlope = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kCubic = 0.044715;

double gelu(double x) { return 0.5 * x * (1 + std::tanh(kSlope * (x + kCubic * x * x * x))); }

double gelu_gradient(double x) {
  const double t = std::tanh(kSlope * (x + kCubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kSlope * (1 + 3 * kCubic * x * x);
}

double read_value(const char* place, int32_t type) {
  if (type == HIP_R_64F) {
    double value;
    std::memcpy(&value, place, sizeof value);
    return value;
  }
  if (type == HIP_R_16F) {
    _Float16 value;
    std::memcpy(&value, place, sizeof value);
    return double(value);
  }
  uint32_t bits = 0;
  if (type == HIP_R_16BF) {
    uint16_t upper;
    std::memcpy(&upper, place, sizeof upper);
    bits = uint32_t(upper) << 16;
  } else {
    std::memcpy(&bits, place, sizeof bits);
  }
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void write_value(char* place, int32_t type, double value) {
  if (type == HIP_R_64F) {
    std::memcpy(place, &value, sizeof value);
    return;
  }
  const float single = float(value);
  if (type == HIP_R_16F) {
    const _Float16 half = _Float16(single);
    std::memcpy(place, &half, sizeof half);
    return;
  }
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  if (type == HIP_R_16BF) {
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    const uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    const uint16_t upper = nan ? uint16_t((bits >> 16) | 0x40) : uint16_t(rounded >> 16);
    std::memcpy(place, &upper, sizeof upper);
    return;
  }
  std::memcpy(place, &bits, sizeof bits);
}

bool has_bias(uint32_t kind) {
  return kind == HIPBLASLT_EPILOGUE_BIAS || kind == HIPBLASLT_EPILOGUE_RELU_BIAS ||
         kind == HIPBLASLT_EPILOGUE_GELU_BIAS || kind == HIPBLASLT_EPILOGUE_GELU_AUX_BIAS;
}

bool has_relu(uint32_t kind) {
  return kind == HIPBLASLT_EPILOGUE_RELU || kind == HIPBLASLT_EPILOGUE_RELU_BIAS;
}

bool writes_aux(uint32_t kind) {
  return kind == HIPBLASLT_EPILOGUE_GELU_AUX || kind == HIPBLASLT_EPILOGUE_GELU_AUX_BIAS;
}

bool has_gelu(uint32_t kind) {
  return writes_aux(kind) || kind == HIPBLASLT_EPILOGUE_GELU ||
         kind == HIPBLASLT_EPILOGUE_GELU_BIAS;
}

bool has_gradient(uint32_t kind) {
  return kind == HIPBLASLT_EPILOGUE_DGELU || kind == HIPBLASLT_EPILOGUE_DGELU_BGRAD;
}

}  // namespace

bool known_epilogue(uint32_t kind) {
  return kind == HIPBLASLT_EPILOGUE_DEFAULT || has_bias(kind) || has_relu(kind) || has_gelu(kind) ||
         has_gradient(kind);
}

size_t bytes_of(int32_t type) { return type == HIP_R_64F ? 8 : type == HIP_R_32F ? 4 : 2; }

bool Epilogue::read(const void* from, int32_t type, int64_t ld, int64_t stride,
                    std::vector<double>& to, hipStream_t stream) const {
  const size_t width = bytes_of(type);
  std::vector<char> column(size_t(m) * n * width);
  if (hipStreamSynchronize(stream) != hipSuccess) {
    return false;
  }
  for (int each = 0; each < batch; ++each) {
    const char* place = static_cast<const char*>(from) + each * stride * width;
    if (hipMemcpy2D(column.data(), m * width, place, ld * width, m * width, n,
                    hipMemcpyDeviceToHost) != hipSuccess) {
      return false;
    }
    for (size_t i = 0; i < size_t(m) * n; ++i) {
      to[size_t(each) * m * n + i] = read_value(&column[i * width], type);
    }
  }
  return true;
}

bool Epilogue::write(void* to, int32_t type, int64_t ld, int64_t stride,
                     const std::vector<double>& from) const {
  const size_t width = bytes_of(type);
  std::vector<char> column(size_t(m) * n * width);
  for (int each = 0; each < batch; ++each) {
    for (size_t i = 0; i < size_t(m) * n; ++i) {
      write_value(&column[i * width], type, from[size_t(each) * m * n + i]);
    }
    char* place = static_cast<char*>(to) + each * stride * width;
    if (hipMemcpy2D(place, ld * width, column.data(), m * width, m * width, n,
                    hipMemcpyHostToDevice) != hipSuccess) {
      return false;
    }
  }
  return true;
}

bool Epilogue::apply(std::vector<double>& values, void* bias, int32_t biasType, void* aux,
                     int32_t auxType, int64_t auxLd, int64_t auxStride) const {
  const int rows = swapped ? n : m;
  const auto row_of = [&](size_t i) { return swapped ? i / m % n : i % m; };
  const size_t width = bytes_of(biasType);
  if (has_bias(kind)) {
    std::vector<char> added(rows * width);
    if (bias == nullptr ||
        hipMemcpy(added.data(), bias, added.size(), hipMemcpyDeviceToHost) != hipSuccess) {
      return false;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] += read_value(&added[row_of(i) * width], biasType);
    }
  }
  if ((writes_aux(kind) || has_gradient(kind)) && aux == nullptr) {
    return false;
  }
  if (writes_aux(kind) && !write(aux, auxType, auxLd, auxStride, values)) {
    return false;
  }
  if (has_gradient(kind)) {
    std::vector<double> before(values.size());
    if (!read(aux, auxType, auxLd, auxStride, before, nullptr)) {
      return false;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] *= gelu_gradient(before[i]);
    }
  }
  for (double& value : values) {
    value = has_relu(kind) ? (value > 0 ? value : 0) : has_gelu(kind) ? gelu(value) : value;
  }
  if (kind == HIPBLASLT_EPILOGUE_DGELU_BGRAD) {
    std::vector<double> sums(rows);
    for (size_t i = 0; i < values.size(); ++i) {
      sums[row_of(i)] += values[i];
    }
    std::vector<char> written(rows * width);
    for (int row = 0; row < rows; ++row) {
      write_value(&written[row * width], biasType, sums[row]);
    }
    return bias != nullptr &&
           hipMemcpy(bias, written.data(), written.size(), hipMemcpyHostToDevice) == hipSuccess;
  }
  return true;
}

}  // namespace cass
