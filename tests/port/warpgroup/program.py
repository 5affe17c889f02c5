"""The CUDA program of a list of cases: a kernel for each form, and a table.

The program prints for each case of a section its number and a checksum of the result's registers.
``python -m tests.port.warpgroup.program FILE`` writes that of all cases, which was run on an H100
(``nvcc -gencode arch=compute_90a,code=sm_90a``, CUDA 13.0): ``hardware.json`` is what it printed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.port.warpgroup import numbers
from tests.port.warpgroup.cases import IMAGE_BYTES, SECTIONS, Case
from tests.port.warpgroup.forms import WARPGROUP, Form

_HEAD = f"""\
// Made by tests/port/warpgroup/program.py.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr uint32_t image_bytes = {IMAGE_BYTES};

__device__ uint64_t begin(const uint4 *image) {{
  extern __shared__ __align__(1024) uint4 memory[];
  for (uint32_t n = threadIdx.x; n < image_bytes / 16; n += {WARPGROUP}) memory[n] = image[n];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  return (__cvta_generic_to_shared(memory) & 0x3ffff) >> 4;
}}

__device__ void set(uint32_t &to, uint32_t word) {{ to = word; }}
__device__ void set(float &to, uint32_t word) {{ to = __uint_as_float(word); }}
__device__ uint32_t word_of(uint32_t from) {{ return from; }}
__device__ uint32_t word_of(float from) {{ return __float_as_uint(from); }}
"""

_KERNEL = """
__global__ void __launch_bounds__({threads}) k{number}(const uint4 *image, const uint32_t *given,
    uint64_t a, uint64_t b, uint32_t keep, uint32_t *out) {{
  const uint64_t base = begin(image);
  a += base;
  b += base;
  uint32_t m[4];
  {type} d[{words}];
  for (int n = 0; n < 4; ++n) m[n] = given[n * {threads} + threadIdx.x];
  for (int n = 0; n < {words}; ++n) set(d[n], given[(4 + n) * {threads} + threadIdx.x]);
  [[maybe_unused]] const uint32_t metadata = given[{metadata} * {threads} + threadIdx.x];
  asm volatile("{{ .reg .pred p; setp.ne.u32 p, %{keep}, 0; wgmma.fence.sync.aligned;\\n"
    "{opcode} {{{sums}}}, {left}, %{right}, {sparsity}p{flags};\\n"
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }}"
    : {outputs}
    : {inputs}, "l"(b), "r"(keep), "r"(metadata));
  for (int n = 0; n < {words}; ++n) out[n * {threads} + threadIdx.x] = word_of(d[n]);
}}
"""


_MOST_WORDS = 128
"""Registers of a thread for the sums."""


def _kernel(number: int, form: Form) -> str:
    words, letter = form.words, "f" if form.result == "f32" else "r"
    a = [f"%{words + n}" for n in range(4)] if form.a_in_registers else [f"%{words}"]
    inputs = ", ".join(f'"r"(m[{n}])' for n in range(4)) if form.a_in_registers else '"l"(a)'
    return _KERNEL.format(
        type="float" if form.result == "f32" else "uint32_t",
        number=number,
        threads=WARPGROUP,
        words=words,
        opcode=form.opcode,
        sums=", ".join(f"%{n}" for n in range(words)),
        left="{" + ", ".join(a) + "}" if form.a_in_registers else a[0],
        right=words + len(a),
        keep=words + len(a) + 1,
        metadata=4 + _MOST_WORDS,
        sparsity=f"%{words + len(a) + 2}, {form.selector}, " if form.sparse else "",
        flags=form.flags,
        outputs=", ".join(f'"+{letter}"(d[{n}])' for n in range(words)),
        inputs=inputs,
    )


_TABLES = """
struct Kind {{
  uint32_t bytes, rule, base, span, count, codes[9];
}};
const Kind kinds[] = {{
{kinds}
}};

using Kernel = void (*)(const uint4 *, const uint32_t *, uint64_t, uint64_t, uint32_t, uint32_t *);
struct Form {{
  Kernel kernel;
  uint32_t words;
}};
const Form forms[] = {{
{forms}
}};

struct Case {{
  uint32_t section, form, image, seed, a, sums, metadata, keep;
  uint64_t of_a, of_b;
}};
const Case cases[] = {{
{cases}
}};
"""

_REST = f"""
constexpr uint32_t threads = {WARPGROUP}, most_words = {_MOST_WORDS};
constexpr uint32_t unique_with_identity = {list(numbers.KINDS).index("unique with identity")};
constexpr uint32_t identity = {list(numbers.KINDS).index("identity")};

uint32_t hashed(uint32_t n, uint32_t seed) {{
  uint32_t x = n * 0x9E3779B1u + seed * 0x85EBCA77u;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  return x ^ x >> 16;
}}

void fill(void *to, uint32_t words, uint32_t which, uint32_t seed) {{
  const Kind &kind = kinds[which];
  for (uint32_t n = 0; n < 4 * words / kind.bytes; ++n) {{
    const uint32_t h = hashed(n, seed);
    uint32_t made = 0;
    if (kind.rule == {numbers.CODES}) made = kind.codes[h % kind.count];
    if (kind.rule == {numbers.UNIQUE}) made = kind.base + n;
    if (kind.rule == {numbers.SPAN})
      made = (kind.base + (h & 0x7fffffff) % kind.span) | (h >> 31) << (8 * kind.bytes - 1);
    std::memcpy((char *)to + n * kind.bytes, &made, kind.bytes);
  }}
  if (which == unique_with_identity) {{
    for (uint32_t r = 0; r < 16; ++r)
      for (uint32_t c = 0; c < 16; ++c)
        ((uint16_t *)to)[({numbers.IDENTITY_PLACE} + r / 8 * {numbers.IDENTITY_STRIDE} +
                          c / 8 * {numbers.IDENTITY_LEADING} + r % 8 * 16) / 2 + c % 8] =
            r == c ? 0x3c00 : 0;
  }}
  if (which == identity) {{
    for (uint32_t n = 0; n < 4 * threads; ++n) {{
      const uint32_t lane = n % 32, row = lane / 4 + n / threads % 2 * 8;
      const uint32_t column = lane % 4 * 2 + n / threads / 2 * 8;
      ((uint32_t *)to)[n] = row == column ? 0x3c00 : row == column + 1 ? 0x3c000000 : 0;
    }}
  }}
}}

bool failed(const char *what) {{
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) std::printf("%s: %s\\n", what, cudaGetErrorString(error));
  return error != cudaSuccess;
}}

// Argument: a section of the table.
int main(int count, char **arguments) {{
  const int section = count > 1 ? std::atoi(arguments[1]) : 0;
  std::vector<uint32_t> image(image_bytes / 4), given((5 + most_words) * threads),
      out(most_words * threads);
  uint4 *device_image;
  uint32_t *device_given, *device_out;
  cudaMalloc(&device_image, image_bytes);
  cudaMalloc(&device_given, 4 * given.size());
  cudaMalloc(&device_out, 4 * out.size());
  uint32_t last_image = ~0u, last_seed = ~0u;
  for (uint32_t number = 0; number < sizeof(cases) / sizeof(*cases); ++number) {{
    const Case &now = cases[number];
    if ((int)now.section != section) continue;
    const Form &form = forms[now.form];
    if (now.image != last_image || now.seed != last_seed) {{
      fill(image.data(), image_bytes / 4, now.image, now.seed);
      cudaMemcpy(device_image, image.data(), image_bytes, cudaMemcpyHostToDevice);
    }}
    last_image = now.image;
    last_seed = now.seed;
    fill(given.data(), 4 * threads, now.a, now.seed + 1);
    fill(given.data() + 4 * threads, form.words * threads, now.sums, now.seed + 2);
    fill(given.data() + (4 + most_words) * threads, threads, now.metadata, now.seed + 3);
    cudaMemcpy(device_given, given.data(), 4 * given.size(), cudaMemcpyHostToDevice);
    form.kernel<<<1, threads, image_bytes>>>(device_image, device_given, now.of_a, now.of_b,
                                             now.keep, device_out);
    cudaDeviceSynchronize();
    if (failed("kernel")) {{
      std::printf("case %u\\n", number);
      return 1;
    }}
    const uint32_t words = form.words * threads;
    cudaMemcpy(out.data(), device_out, 4 * words, cudaMemcpyDeviceToHost);
    uint64_t sum = 0;
    for (uint32_t n = 0; n < words; ++n) sum += out[n] * (n * 0x9E3779B97F4A7C16ull + 1);
    std::printf("%u %016llx\\n", number, (unsigned long long)sum);
  }}
}}
"""


def program(sections: dict[str, list[Case]]) -> str:
    """CUDA for the cases of some sections, which are numbered in their order."""
    forms = list(dict.fromkeys(case.form for cases in sections.values() for case in cases))
    kinds = list(numbers.KINDS)
    kind_rows = [
        f"  {{{k.bytes}, {k.rule}, {k.base}u, {k.span}u, {len(k.codes)}, "
        f"{{{', '.join(f'{code}u' for code in k.codes)}}}}},"
        for k in numbers.KINDS.values()
    ]
    form_rows = [f"  {{k{n}, {form.words}}},  // {form.opcode}" for n, form in enumerate(forms)]
    places = {form: n for n, form in enumerate(forms)}
    case_rows = [
        f"  {{{section}, {places[case.form]}, {kinds.index(case.image)}, {case.seed}, "
        f"{kinds.index(case.a)}, {kinds.index(case.sums)}, {kinds.index(case.metadata)}, "
        f"{int(case.keeps)}, {case.of_a.bits:#x}ull, {case.of_b.bits:#x}ull}},"
        for section, cases in enumerate(sections.values())
        for case in cases
    ]
    tables = _TABLES.format(
        kinds="\n".join(kind_rows), forms="\n".join(form_rows), cases="\n".join(case_rows)
    )
    return _HEAD + "".join(_kernel(n, form) for n, form in enumerate(forms)) + tables + _REST


def everything() -> dict[str, list[Case]]:
    """All cases, by section."""
    return {name: list(made()) for name, made in SECTIONS.items()}


def main() -> None:
    """Write the program of all cases to a file."""
    Path(sys.argv[1]).write_text(program(everything()))


if __name__ == "__main__":
    main()
