// Numbers of several words: a carry that is added to a sum which wraps around itself, and borrows.
#include <cstdio>
struct Words {
  unsigned w[4];
};
__device__ Words add(Words a, Words b, unsigned extra, unsigned *over) {
  Words r;
  unsigned carry = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned sum = a.w[i] + b.w[i] + extra, total = sum + carry;
    carry = total < carry;
    r.w[i] = total;
  }
  *over = carry;
  return r;
}
__global__ void add_words(const Words *in, Words *out, unsigned *carries, unsigned extra) {
  unsigned over;
  out[threadIdx.x] = add(in[threadIdx.x], in[threadIdx.x + 1], extra, &over);
  carries[threadIdx.x] = over;
}
__global__ void single(unsigned *out, const unsigned *in) {
  unsigned x = in[0], y = in[1], p = in[2], q = in[3];
  unsigned low = p + q, carry = low < p, high = x + y, sum = high + carry;
  out[0] = low, out[1] = sum, out[2] = sum < high;
  unsigned less = p - q, borrow = p < q, top = x - y, difference = top - borrow;
  out[3] = less, out[4] = difference, out[5] = top < borrow;
}
int main() {
  Words in[4] = {{{~0u, ~0u, 0, 5}}, {{1, 1, ~0u, 2}}, {{~0u, 0, 1, ~0u}}, {{2, ~0u, ~0u, 0}}}, *d,
        *o, h[3];
  unsigned *c, carries[3], four[4] = {~0u, 1, 3, 4}, result[6];
  cudaMalloc(&d, sizeof in), cudaMalloc(&o, sizeof h), cudaMalloc(&c, 64);
  cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice);
  add_words<<<1, 3>>>(d, o, c, 1);
  cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpy(carries, c, sizeof carries, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 3; ++i)
    printf("%x %x %x %x, %u\n", h[i].w[0], h[i].w[1], h[i].w[2], h[i].w[3], carries[i]);
  cudaMemcpy(d, four, sizeof four, cudaMemcpyHostToDevice);
  single<<<1, 1>>>(c, (unsigned *)d);
  cudaMemcpy(result, c, sizeof result, cudaMemcpyDeviceToHost);
  for (unsigned each : result) printf("%x ", each);
  printf("\n");
}
