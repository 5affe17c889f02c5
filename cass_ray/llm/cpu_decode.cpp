// One new token of each row through the layers of a Qwen2 or Qwen3, with int8 weights, on a CPU.
//
// What bounds a token is the reading of the weights, once for all rows; PyTorch's products of one
// row reach a third of the memory's speed, and its many small operations take as long again.
// A row's result does not depend on the rows beside it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#ifdef __AVX512VNNI__
#include <immintrin.h>
#endif

namespace {

struct Matrix {
  const int8_t* integers;  // outs x ins
  const int32_t* sums;     // of the integers of each of outs
  const float* scales;     // of each of outs
  const float* bias;       // of each of outs, or null
  int32_t outs, ins;
};

struct Layer {
  Matrix q, k, v, o, gate, up, down;
  const float *before, *behind;   // weights of the norms
  const float *q_norm, *k_norm;   // of each head, or null
};

struct Shape {
  int32_t hidden, heads, groups, width;
  int32_t longest;  // places of a row in the caches
  float epsilon;
};

constexpr int kShift = 128;

// Rows of int8 values with a step for each; shifted, as the processor multiplies unsigned by signed.
struct Quantized {
  std::vector<uint8_t> values;
  std::vector<float> steps;

  void of(const float* x, int rows, int size) {
    values.resize(static_cast<size_t>(rows) * size);
    steps.resize(rows);
    for (int row = 0; row < rows; ++row) {
      const float* from = x + static_cast<size_t>(row) * size;
      uint8_t* to = values.data() + static_cast<size_t>(row) * size;
      float largest = 0;
      for (int i = 0; i < size; ++i) largest = std::max(largest, std::fabs(from[i]));
      const float step = std::max(largest, 1e-12f) / 127;
      for (int i = 0; i < size; ++i) {
        to[i] = static_cast<uint8_t>(static_cast<int>(std::nearbyintf(from[i] / step)) + kShift);
      }
      steps[row] = step;
    }
  }
};

constexpr int kAtOnce = 4;  // rows of weights: one alone does not keep the memory busy

// Sums of products of `values` with `kAtOnce` rows of weights, from index `first` on.
void add_products(const int8_t* weights, const uint8_t* values, int first, int size,
                  int32_t* sums) {
  for (int n = 0; n < kAtOnce; ++n) {
    const int8_t* row = weights + static_cast<size_t>(n) * size;
    for (int i = first; i < size; ++i) sums[n] += row[i] * values[i];
  }
}

void dots(const int8_t* weights, const uint8_t* values, int size, int32_t* sums) {
  int first = 0;
  std::fill(sums, sums + kAtOnce, 0);
#ifdef __AVX512VNNI__
  __m512i made[kAtOnce] = {};
  for (; first + 64 <= size; first += 64) {
    const __m512i value = _mm512_loadu_si512(values + first);
    for (int n = 0; n < kAtOnce; ++n) {
      const int8_t* from = weights + static_cast<size_t>(n) * size + first;
      made[n] = _mm512_dpbusd_epi32(made[n], value, _mm512_loadu_si512(from));
    }
  }
  for (int n = 0; n < kAtOnce; ++n) sums[n] = _mm512_reduce_add_epi32(made[n]);
#endif
  add_products(weights, values, first, size, sums);
}

int32_t dot(const int8_t* weights, const uint8_t* values, int size) {
  int32_t sum = 0;
  for (int i = 0; i < size; ++i) sum += weights[i] * values[i];
  return sum;
}

float dot(const float* a, const float* b, int size) {
  float sum = 0;
  for (int i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

void multiply(const Matrix& matrix, const Quantized& x, int rows, float* out) {
  const size_t size = matrix.ins;
  const auto put = [&](int row, int n, int32_t sum) {
    const float steps = static_cast<float>(sum - kShift * matrix.sums[n]);
    const float made = steps * x.steps[row] * matrix.scales[n];
    out[static_cast<size_t>(row) * matrix.outs + n] = matrix.bias ? made + matrix.bias[n] : made;
  };
  int n = 0;
  for (; n + kAtOnce <= matrix.outs; n += kAtOnce) {
    for (int row = 0; row < rows; ++row) {
      int32_t sums[kAtOnce];
      dots(matrix.integers + n * size, x.values.data() + row * size, matrix.ins, sums);
      for (int i = 0; i < kAtOnce; ++i) put(row, n + i, sums[i]);
    }
  }
  for (; n < matrix.outs; ++n) {
    for (int row = 0; row < rows; ++row) {
      put(row, n, dot(matrix.integers + n * size, x.values.data() + row * size, matrix.ins));
    }
  }
}

void normalize(const float* x, const float* weight, int size, float epsilon, float* out) {
  const float factor = 1 / std::sqrt(dot(x, x, size) / size + epsilon);
  for (int i = 0; i < size; ++i) out[i] = x[i] * factor * weight[i];
}

// RMSNorm of a head, where the model has one, then its rotation to its place.
void place_head(float* head, const float* norm, const Shape& shape, const float* cos,
                const float* sin, float* spare) {
  const int half = shape.width / 2;
  if (norm) normalize(head, norm, shape.width, shape.epsilon, head);
  std::copy(head, head + shape.width, spare);
  for (int i = 0; i < half; ++i) {
    head[i] = spare[i] * cos[i] - spare[i + half] * sin[i];
    head[i + half] = spare[i + half] * cos[i + half] + spare[i] * sin[i + half];
  }
}

// Attention of the heads that share the keys and values of a group, over its first `seen` places.
void attend(const float* query, const float* keys, const float* values, int seen, int shared,
            int width, std::vector<float>& weights, float* out) {
  weights.resize(static_cast<size_t>(shared) * seen);
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  for (int place = 0; place < seen; ++place) {
    for (int head = 0; head < shared; ++head) {
      weights[static_cast<size_t>(head) * seen + place] =
          scale * dot(query + head * width, keys + static_cast<size_t>(place) * width, width);
    }
  }
  for (int head = 0; head < shared; ++head) {
    float* own = weights.data() + static_cast<size_t>(head) * seen;
    const float largest = *std::max_element(own, own + seen);
    float total = 0;
    for (int place = 0; place < seen; ++place) total += own[place] = std::exp(own[place] - largest);
    for (int place = 0; place < seen; ++place) own[place] /= total;
  }
  std::fill(out, out + shared * width, 0.0f);
  for (int place = 0; place < seen; ++place) {
    const float* value = values + static_cast<size_t>(place) * width;
    for (int head = 0; head < shared; ++head) {
      const float weight = weights[static_cast<size_t>(head) * seen + place];
      for (int i = 0; i < width; ++i) out[head * width + i] += weight * value[i];
    }
  }
}

class Step {
 public:
  Step(const Shape& shape, int rows, float* x, const int64_t* places, const float* cos,
       const float* sin)
      : shape_(shape), rows_(rows), x_(x), places_(places), cos_(cos), sin_(sin) {
    const size_t heads = static_cast<size_t>(rows) * shape.width;
    normed_.resize(static_cast<size_t>(rows) * shape.hidden);
    added_.resize(normed_.size());
    q_.resize(heads * shape.heads);
    seen_.resize(q_.size());
    k_.resize(heads * shape.groups);
    v_.resize(k_.size());
    spare_.resize(shape.width);
  }

  // `keys` and `values`: (rows, groups, longest, width), where the new ones are put as well.
  void layer(const Layer& layer, float* keys, float* values) {
    norm(layer.before);
    multiply(layer.q, input_, rows_, q_.data());
    multiply(layer.k, input_, rows_, k_.data());
    multiply(layer.v, input_, rows_, v_.data());
    for (int row = 0; row < rows_; ++row) attend_row(layer, row, keys, values);
    input_.of(seen_.data(), rows_, shape_.heads * shape_.width);
    multiply(layer.o, input_, rows_, added_.data());
    add();
    norm(layer.behind);
    feed_forward(layer);
    add();
  }

 private:
  void norm(const float* weight) {
    for (int row = 0; row < rows_; ++row) {
      const size_t at = static_cast<size_t>(row) * shape_.hidden;
      normalize(x_ + at, weight, shape_.hidden, shape_.epsilon, normed_.data() + at);
    }
    input_.of(normed_.data(), rows_, shape_.hidden);
  }

  void add() {
    for (size_t i = 0; i < added_.size(); ++i) x_[i] += added_[i];
  }

  void attend_row(const Layer& layer, int row, float* keys, float* values) {
    const int width = shape_.width, shared = shape_.heads / shape_.groups;
    const int64_t place = places_[row];
    const float *cos = cos_ + static_cast<size_t>(row) * width,
                *sin = sin_ + static_cast<size_t>(row) * width;
    float* queries = q_.data() + static_cast<size_t>(row) * shape_.heads * width;
    for (int head = 0; head < shape_.heads; ++head) {
      place_head(queries + head * width, layer.q_norm, shape_, cos, sin, spare_.data());
    }
    for (int group = 0; group < shape_.groups; ++group) {
      const size_t pair = static_cast<size_t>(row) * shape_.groups + group;
      float* key = k_.data() + pair * width;
      place_head(key, layer.k_norm, shape_, cos, sin, spare_.data());
      const size_t cache = pair * shape_.longest * width;
      std::copy(key, key + width, keys + cache + place * width);
      std::copy_n(v_.data() + pair * width, width, values + cache + place * width);
      attend(queries + group * shared * width, keys + cache, values + cache,
             static_cast<int>(place) + 1, shared, width, weights_,
             seen_.data() + pair * shared * width);
    }
  }

  void feed_forward(const Layer& layer) {
    const size_t size = static_cast<size_t>(rows_) * layer.gate.outs;
    gate_.resize(size);
    up_.resize(size);
    multiply(layer.gate, input_, rows_, gate_.data());
    multiply(layer.up, input_, rows_, up_.data());
    for (size_t i = 0; i < size; ++i) up_[i] *= gate_[i] / (1 + std::exp(-gate_[i]));
    input_.of(up_.data(), rows_, layer.gate.outs);
    multiply(layer.down, input_, rows_, added_.data());
  }

  const Shape& shape_;
  const int rows_;
  float* const x_;
  const int64_t* const places_;
  const float *const cos_, *const sin_;
  Quantized input_;
  std::vector<float> normed_, added_, q_, k_, v_, seen_, gate_, up_, weights_, spare_;
};

}  // namespace

// `x`: (rows, hidden), in and out. `cos`, `sin`: (rows, width), of the rows' places.
extern "C" void cass_decode(const Layer* layers, int32_t number, const Shape* shape, int32_t rows,
                            float* x, const int64_t* places, const float* cos, const float* sin,
                            float* const* keys, float* const* values) {
  Step step(*shape, rows, x, places, cos, sin);
  for (int each = 0; each < number; ++each) step.layer(layers[each], keys[each], values[each]);
}

extern "C" void cass_multiply(const Matrix* matrix, int32_t rows, const float* x, float* out) {
  Quantized input;
  input.of(x, rows, matrix->ins);
  multiply(*matrix, input, rows, out);
}
