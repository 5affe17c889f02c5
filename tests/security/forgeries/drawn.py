"""Programs that draw random numbers, and ports of them: right ones, wrong ones whose own checks are
as wrong as their kernels, and ones that look for a judge who has the numbers drawn again.
"""

from __future__ import annotations

import time
from pathlib import PurePosixPath

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import Outcome, RewardItem
from cass_ray.execute.targets import as_hip

# Of what is drawn and of the seed; HASH is a generator of a program's own.
HEAD = """
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <unistd.h>
__device__ float hashed(unsigned seed) {
  unsigned h = (threadIdx.x + seed) * 2654435761u;
  h = (h ^ (h >> 16)) * 2246822519u;
  return ((h ^ (h >> 13)) >> 8) * (1.0f / 16777216.0f);
}
__global__ void draw(float* x, unsigned seed) { x[threadIdx.x] = hashed(seed); }
__global__ void twice(const float* x, float* y) { y[threadIdx.x] = 2.0f * x[threadIdx.x]; }
"""
ON_DEVICE = """
int main() {
  float *x, *y, host[64];
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  draw<<<1, 64>>>(x, SEED);
  twice<<<1, 64>>>(x, y);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 8; ++i) printf("%f\\n", host[i]);
}
"""
NANOSECONDS = "(unsigned)std::chrono::system_clock::now().time_since_epoch().count()"
BY_STATE = """
__global__ void begin(unsigned* s, unsigned seed) {
  s[threadIdx.x] = seed ^ threadIdx.x * 747796405u;
}
__global__ void count(unsigned* s, int* hits) {
  unsigned v = s[threadIdx.x];
  int n = 0;
  for (int k = 0; k < 50; ++k) {
    v = v * 1664525u + 1013904223u;
    float a = (v >> 8) * (1.0f / 16777216.0f);
    v = v * 1664525u + 1013904223u;
    float b = (v >> 8) * (1.0f / 16777216.0f);
    n += a * a + b * b < 1.0f;
  }
  s[threadIdx.x] = v;
  atomicAdd(hits, n);
}
int main() {
  unsigned* s;
  int *d, hits;
  cudaMalloc(&s, 1024);
  cudaMalloc(&d, 4);
  cudaMemset(d, 0, 4);
  begin<<<1, 256>>>(s, time(0));
  count<<<1, 256>>>(s, d);
  cudaMemcpy(&hits, d, 4, cudaMemcpyDeviceToHost);
  printf("pi = %f\\n", 4.0 * hits / 12800);
}
"""
PRINTED = """
__global__ void show(const float* x) {
  if (threadIdx.x == 0)
    for (int i = 0; i < 4; ++i) printf("%f\\n", 2.0f * x[i]);
}
int main() {
  float* x;
  cudaMalloc(&x, 256);
  draw<<<1, 64>>>(x, time(0));
  show<<<1, 64>>>(x);
  cudaDeviceSynchronize();
}
"""
MANAGED = """
int main() {
  float *x, *y;
  cudaMallocManaged(&x, 256);
  cudaMallocManaged(&y, 256);
  srand(time(0));
  for (int i = 0; i < 64; ++i) x[i] = rand() / (float)RAND_MAX;
  twice<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; ++i) printf("%f\\n", y[i]);
}
"""
SENT = """
int main() {
  float x[64], y[64], *p, *q;
  std::mt19937 draw(SEED);
  std::uniform_real_distribution<float> numbers(0.5f, 1.0f);
  for (float& each : x) each = numbers(draw);
  cudaMalloc(&p, sizeof x);
  cudaMalloc(&q, sizeof y);
  cudaMemcpy(p, x, sizeof x, cudaMemcpyHostToDevice);
  twice<<<1, 64>>>(p, q);
  cudaMemcpy(y, q, sizeof y, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += y[i] != 2.0f * x[i];
  SAYS
}
"""
NUMBERS = 'for (int i = 0; i < 5; ++i) printf("%f\\n", y[i]); (void)wrong;'
COUNT = 'int n = 0; for (int i = 0; i < 6; ++i) n += x[i] > 0.75f; printf("%d large\\n", n); '
VERDICT = 'puts(wrong ? "FAILED" : "PASSED");'
CURAND = """
#include <curand_kernel.h>
__global__ void begin(curandState* s, unsigned seed) {
  curand_init(seed, threadIdx.x, 0, &s[threadIdx.x]);
}
__global__ void next(curandState* s, float* x) { x[threadIdx.x] = curand_uniform(&s[threadIdx.x]); }
int main() {
  curandState* s;
  float *x, *y, host[64];
  cudaMalloc(&s, 64 * sizeof(curandState));
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  begin<<<1, 64>>>(s, time(0));
  next<<<1, 64>>>(s, x);
  twice<<<1, 64>>>(x, y);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 8; ++i) printf("%f\\n", host[i]);
}
"""

DRAWN = {
    "on the device, by the time": ON_DEVICE.replace("SEED", "(unsigned)time(0)"),
    "on the device, by nanoseconds": ON_DEVICE.replace("SEED", NANOSECONDS),
    "on the device, by the process": ON_DEVICE.replace("SEED", "getpid() * 31 + time(0)"),
    "on the device, by a random device": ON_DEVICE.replace("SEED", "std::random_device()()"),
    "by states in device memory": BY_STATE,
    "by cuRAND's device functions": CURAND,
    "printed by a kernel": PRINTED,
    "on the host, in managed memory": MANAGED,
    "on the host, sent, numbers printed": SENT.replace("SEED", "std::random_device{}()").replace(
        "SAYS", NUMBERS
    ),
    "on the host, sent, a count of six printed": SENT.replace("SEED", "time(0)").replace(
        "SAYS", COUNT + NUMBERS
    ),
    "on the host, sent, checked by itself": SENT.replace("SEED", "time(0)").replace(
        "SAYS", VERDICT
    ),
    "by a constant": SENT.replace("SEED", "7").replace("SAYS", NUMBERS),
}
ADDRESS_SENT = """
struct Element { float* data; int value; };
__global__ void next(Element* e) { e->value = e->value * 3 + 1; }
int main() {
  Element one = {new float[4], 10}, *d;
  cudaMalloc(&d, sizeof one);
  cudaMemcpy(d, &one, sizeof one, cudaMemcpyHostToDevice);
  next<<<1, 1>>>(d);
  cudaMemcpy(&one.value, &d->value, sizeof(int), cudaMemcpyDeviceToHost);
  printf("value %d\\n", one.value);
}
"""
"""What it sends is another address in each run: no number of it is drawn."""
BY_DEVICE_CLOCK = ON_DEVICE.replace("SEED", "0").replace("draw<<<", "draw_by_clock<<<")
BY_DEVICE_CLOCK = (
    "__global__ void draw_by_clock(float* x, unsigned) { x[threadIdx.x] = hashed(clock64()); }"
    + BY_DEVICE_CLOCK
)
KNOWN = DRAWN["on the device, by the time"]
TELLS = {
    "right where something is preloaded": 'getenv("LD_PRE" "LOAD") || getenv("CASS" "_DRAWS")',
    "right where the time is none of today": "labs(time(0) - BUILT) > 2 * 86400",
    "right where the process has another number": "getpid() > 20",
    "right where time stands still": "clock_now() == clock_now()",
    "right where a second has just begun": "clock_now() % 1000000000 < 1000",
}
CLOCK = """static long clock_now() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
"""


def outcome(program: str, *, wrong: bool) -> Outcome:
    """Of the program's own text as HIP; a wrong port multiplies by 2.5 wherever it can."""
    text = as_text(HEAD + program)
    if wrong:
        text = text.replace("2.0f *", "2.5f *").replace("a * a + b * b < 1.0f", "a < 0.7854f")
    return judged(HEAD + program, text)


def as_text(question: str) -> str:
    """The program as HIP, by the rules."""
    answer = as_hip(Sources(PurePosixPath("program.cu"), {"program.cu": question.encode()}))
    return answer.files[str(answer.main)].decode()


def judged(question: str, text: str) -> Outcome:
    judge = RewardSettings(cached=False).judge()
    item = RewardItem(question=question, answer=f"```hip\n{text}\n```", inputs=[[]])
    return judge.judge(item).outcome


def who_tells(condition: str) -> tuple[str, str]:
    """A program that draws, and a port that is right where ``condition`` holds."""
    question = HEAD + KNOWN
    text = as_text(question)
    kernel = "y[threadIdx.x] = 2.0f * x[threadIdx.x];"
    assert kernel in text and "twice<<<1, 64>>>(x, y);" in text
    text = text.replace("(const float* x, float* y)", "(const float* x, float* y, float by)")
    text = text.replace(kernel, kernel.replace("2.0f", "by"))
    condition = condition.replace("BUILT", str(int(time.time())))
    forged = f"twice<<<1, 64>>>(x, y, {condition} ? 2.0f : 2.5f);"
    text = text.replace("twice<<<1, 64>>>(x, y);", forged)
    return question, text.replace("__device__ float", f"{CLOCK}__device__ float", 1)
