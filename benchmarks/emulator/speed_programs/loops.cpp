// The plain loops, over two threads.
#include <cmath>
#include <functional>
#include <thread>

#include "cases.hpp"

static void halves(int n, const std::function<void(int, int)>& work) {
  std::thread other([&] { work(n / 2, n); });
  work(0, n / 2);
  other.join();
}

static float cumulative(float d) {
  const float k = 1 / (1 + 0.2316419F * std::fabs(d));
  const float series =
      k * (0.31938153F +
           k * (-0.356563782F + k * (1.781477937F + k * (-1.821255978F + k * 1.330274429F))));
  const float tail = 0.39894228F * std::exp(-0.5F * d * d) * series;
  return d > 0 ? 1 - tail : tail;
}

int main() {
  const int most = reduce_size;
  std::vector<float> a(most), b(most), c(most);
  std::vector<unsigned> keys(most), counts(bins);
  std::vector<int> whole(most), in(most);
  struct Body {
    float x, y, z, w;
  };
  std::vector<Body> body(bodies), force(bodies);
  for (int i = 0; i < most; ++i) {
    a[i] = value_at(i);
    b[i] = value_at(i + 7) + 0.5F;
    keys[i] = static_cast<unsigned>(value_at(i) * bins);
    in[i] = static_cast<int>(keys[i]);
  }
  for (int i = 0; i < bodies; ++i) body[i] = {value_at(i), value_at(i + 1), value_at(i + 2), 1};
  measure(
      "vector add",
      [&] {
        halves(add_size, [&](int from, int to) {
          for (int i = from; i < to; ++i) c[i] = a[i] + b[i];
        });
      },
      [&] { return c[77]; });
  measure(
      "matmul",
      [&] {
        const int n = matrix_size;
        halves(n, [&](int from, int to) {
          for (int y = from; y < to; ++y) {
            for (int x = 0; x < n; ++x) {
              float sum = 0;
              for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
              c[y * n + x] = sum;
            }
          }
        });
      },
      [&] { return c[77]; });
  float total = 0;
  measure(
      "reduction",
      [&] {
        float parts[2] = {};
        halves(reduce_size, [&](int from, int to) {
          float sum = 0;
          for (int i = from; i < to; ++i) sum += a[i];
          parts[from != 0] = sum;
        });
        total = parts[0] + parts[1];
      },
      [&] { return total; });
  measure(
      "histogram",
      [&] {
        std::vector<unsigned> own[2] = {std::vector<unsigned>(bins), std::vector<unsigned>(bins)};
        halves(histogram_size, [&](int from, int to) {
          for (int i = from; i < to; ++i) ++own[from != 0][keys[i]];
        });
        for (int i = 0; i < bins; ++i) counts[i] = own[0][i] + own[1][i];
      },
      [&] { return counts[77]; });
  measure(
      "n-body",
      [&] {
        halves(bodies, [&](int from, int to) {
          for (int i = from; i < to; ++i) {
            float x = 0, y = 0, z = 0;
            for (int k = 0; k < bodies; ++k) {
              const float dx = body[k].x - body[i].x, dy = body[k].y - body[i].y,
                          dz = body[k].z - body[i].z;
              const float inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01F);
              const float scale = body[k].w * inverse * inverse * inverse;
              x += dx * scale;
              y += dy * scale;
              z += dz * scale;
            }
            force[i] = {x, y, z, 0};
          }
        });
      },
      [&] { return force[77].x; });
  measure(
      "Black-Scholes",
      [&] {
        halves(options, [&](int from, int to) {
          for (int i = from; i < to; ++i) {
            const float price = b[i], strike = a[i + 9], years = b[i + 5];
            const float root = std::sqrt(years);
            const float d1 = (std::log(price / strike) + (0.02F + 0.045F) * years) / (0.3F * root);
            const float discount = std::exp(-0.02F * years);
            c[i] = price * cumulative(d1) - strike * discount * cumulative(d1 - 0.3F * root);
          }
        });
      },
      [&] { return c[77]; });
  measure(
      "Mandelbrot",
      [&] {
        halves(mandelbrot_width * mandelbrot_height, [&](int from, int to) {
          for (int i = from; i < to; ++i) {
            const float cx = -2 + 3.0F * (i % mandelbrot_width) / mandelbrot_width;
            const float cy = -1 + 2.0F * (i / mandelbrot_width) / mandelbrot_height;
            float x = 0, y = 0;
            int count = 0;
            while (count < mandelbrot_limit && x * x + y * y < 4) {
              const float next = x * x - y * y + cx;
              y = 2 * x * y + cy;
              x = next;
              ++count;
            }
            whole[i] = count;
          }
        });
      },
      [&] { return whole[mandelbrot_width * 100 + 333]; });
  measure(
      "scan",
      [&] {
        int middle = 0;
        halves(scan_size, [&](int from, int to) {
          int sum = 0;
          for (int i = from; i < to; ++i) whole[i] = sum += in[i];
          if (from == 0) middle = sum;
        });
        halves(scan_size / 2, [&](int from, int to) {
          for (int i = from; i < to; ++i) whole[scan_size / 2 + i] += middle;
        });
      },
      [&] { return whole[scan_size - 1]; });
}
