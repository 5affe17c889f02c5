"""Programs that forge evidence, look for signs of being watched, or use the device for show.

Each of them got through when launches and counters were taken in the program's own process.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.build import BuildFailed, runtime_library
from cass_ray.emulator.execution import RunOptions, execute
from cass_ray.emulator.perturbation import Perturbation, Where
from cass_ray.execute.backends.base import Execution, Inputs, RunMode
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.evidence.exploits import Exploit
from cass_ray.execute.references import measure
from cass_ray.execute.verification import PortVerification
from cass_ray.execute.verify import verify
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox.executable import Bounds, SandboxVerdict

pytestmark = pytest.mark.amd

HEAD = r"""
#include <hip/hip_runtime.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
extern char** environ;
__global__ void squares(int* out) { out[threadIdx.x] = threadIdx.x * threadIdx.x; }
__global__ void decoy(int* out) { out[threadIdx.x] = 7; }
static int run_squares() {
  int *d = nullptr, h[64] = {}, sum = 0;
  if (hipMalloc(&d, sizeof h) != hipSuccess) return -1;
  squares<<<1, 64>>>(d);
  if (hipMemcpy(h, d, sizeof h, hipMemcpyDeviceToHost) != hipSuccess) return -1;
  for (int value : h) sum += value;
  hipFree(d);
  return sum;
}
"""
SUM = sum(k * k for k in range(64))
ZEROED = Perturbation(Where.OUT_ALL)


@pytest.fixture(scope="module")
def backend() -> Rdna3Backend:
    made = Rdna3Backend()
    try:
        problem = made.problem()
    except (ToolMissing, BuildFailed) as error:
        problem = str(error)
    if problem:
        pytest.skip(problem)
    return made


def program(body: str) -> Sources:
    main = PurePosixPath("main.hip")
    return Sources(main, {str(main): (HEAD + body).encode()})


def run(backend: Rdna3Backend, body: str, mode: RunMode | None = None) -> Execution:
    return backend.run(backend.build(program(body)), Inputs(), mode)


HONEST = 'int main() { printf("sum %d\\n", run_squares()); }'


def judge(backend: Rdna3Backend, body: str, honest: str = HONEST) -> PortVerification:
    reference = measure(backend, backend.build(program(honest)), [Inputs()])
    assert not reference.runs[0].problem
    return verify(reference, backend.build(program(body)), backend)


def exploits(result: PortVerification) -> set[Exploit]:
    return {finding.exploit for finding in result.findings}


# ---- the record

FORGE_RECORD = r"""
struct Record {
  uint64_t count, shared; uint32_t grid[3], block[3]; uint64_t more; char name[464];
};
static void forge(void* at, size_t bytes) {
  if (bytes < sizeof(Record)) return;
  Record record = {1000, 0, {8, 1, 1}, {128, 1, 1}, 0, "_Z7squaresPi"};
  memcpy(at, &record, sizeof record);
}
int main() {
  // Every shared file that this process has mapped or has open, and every place one could be.
  char line[512];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long start, end; char rights[8];
    if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3 && !strcmp(rights, "rw-s"))
      forge((void*)start, end - start);
  }
  for (int file = 3; file < 1024; ++file) {
    struct stat found;
    if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) continue;
    void* at = mmap(0, 512 * 1024, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) forge(at, found.st_size);
  }
  for (const char* name : {"/cass/shared/launches", "/cass/state/counters.json"}) {
    const int file = open(name, O_RDWR);
    char record[512] = {}; forge(record, sizeof record);
    if (file >= 0) write(file, record, sizeof record);
  }
  printf("sum 85344\n");
}
"""


def test_a_forged_record_counts_for_nothing(backend: Rdna3Backend) -> None:
    done = run(backend, FORGE_RECORD)
    assert done.ended.ok
    assert done.launches == ()
    assert Exploit.NO_LAUNCH in exploits(judge(backend, FORGE_RECORD))


FORGE_COUNTERS = r"""
int main() {
  const char* text = "{\"kernels\": [{\"kernel\": \"_Z7squaresPi\", \"launches\": 1, "
    "\"instructions\": 10, \"by_class\": {\"barrier\": 0, \"atomic\": 0, \"lds\": 0}, "
    "\"by_mnemonic\": {}, \"instruction_coverage\": {\"reached\": 1000000, \"of\": 1000000}}]}";
  for (const char* name : {getenv("CASS_EMULATOR_COUNTERS"), (char*)"/cass/shared/counters.json"}) {
    const int file = name ? open(name, O_WRONLY) : -1;
    if (file >= 0) write(file, text, strlen(text));
  }
  for (int file = 3; file < 1024; ++file) write(file, text, strlen(text));
  printf("sum 85344\n");
}
"""


def test_counters_that_the_program_writes_are_none(backend: Rdna3Backend) -> None:
    done = run(backend, FORGE_COUNTERS, RunMode(counters=True))
    assert done.counters.get("kernels", []) == []


def test_honest_counters_and_launches_agree(backend: Rdna3Backend) -> None:
    done = run(backend, HONEST, RunMode(counters=True))
    assert done.ended.stdout == f"sum {SUM}\n".encode()
    (launch,) = done.launches
    (kernel,) = done.counters["kernels"]
    assert (launch.kernel, launch.grid, launch.block) == ("_Z7squaresPi", (1, 1, 1), (64, 1, 1))
    assert kernel["kernel"] == launch.kernel
    assert kernel["launches"] == launch.count == 1
    assert kernel["instruction_coverage"]["reached"] == kernel["instruction_coverage"]["of"]


# ---- signs of being watched

SIGNS = r"""
static void show(const char* path) {
  char text[65536];
  const int file = open(path, O_RDONLY);
  const ssize_t count = file < 0 ? -1 : read(file, text, sizeof text);
  for (ssize_t k = 0; k < count; ++k) putchar(text[k] ? text[k] : '\n');
  if (file >= 0) close(file);
}
int main(int argc, char** argv) {
  if (argc > 1) run_squares();
  for (char** entry = environ; *entry; ++entry) puts(*entry);
  for (int k = 0; k < argc; ++k) puts(argv[k]);
  show("/proc/self/environ");
  show("/proc/self/cmdline");
  show("/proc/1/cmdline");
  show("/proc/self/limits");
  for (int file = 0; file < 1024; ++file) {
    struct stat found;
    if (fstat(file, &found) == 0) printf("%d %o %d\n", file, found.st_mode, fcntl(file, F_GETFD));
  }
  char line[512];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    const char* name = strchr(line, '/');
    if (name) fputs(name, stdout);
  }
}
"""
MODES = {
    "counters": RunMode(counters=True),
    "checking": RunMode(check=True),
    "without kernels": RunMode(skip_kernels=True),
    "perturbed": RunMode(perturb=ZEROED),
}


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("arguments", [(), ("use the device",)], ids=["idle", "used"])
def test_no_mode_shows(backend: Rdna3Backend, name: str, arguments: tuple[str, ...]) -> None:
    """Environment, command line, open files and mappings are the same, asked before and after."""
    built = backend.build(program(SIGNS))
    normal = backend.run(built, Inputs(arguments))
    watched = backend.run(built, Inputs(arguments), MODES[name])
    assert normal.ended.ok
    assert len(normal.ended.stdout.splitlines()) > 20
    # Mappings lie elsewhere each time.
    assert sorted(watched.ended.stdout.splitlines()) == sorted(normal.ended.stdout.splitlines())


def test_a_judge_looks_as_a_user(backend: Rdna3Backend) -> None:
    """``cass run`` shows a program the same as a judge does that has limits of its own."""
    built = backend.build(program(SIGNS))
    options = RunOptions(seconds=30.0, compiler=find_amd(), devices=("gfx1100",))
    alone = execute(built.executable, ("use the device",), runtime_library(), options)
    limits = Bounds(7.0, 9.0, memory_bytes=2 << 30, output_bytes=1 << 20)
    judged = backend.run(built, Inputs(("use the device",)), RunMode(limits))
    assert len(alone.stdout.splitlines()) > 20
    assert sorted(judged.ended.stdout.splitlines()) == sorted(alone.stdout.splitlines())


# ---- the device for show

SHOW = {
    "results ignored": r"""
int main() { run_squares(); int sum = 0; for (int k = 0; k < 64; ++k) sum += k * k;
  printf("sum %d\n", sum); }""",
    "a decoy": r"""
int main() { int* d; hipMalloc(&d, 256); decoy<<<1, 64>>>(d); hipDeviceSynchronize();
  int sum = 0; for (int k = 0; k < 64; ++k) sum += k * k; printf("sum %d\n", sum); }""",
    "computed here, sent there and back": r"""
int main() { int *d, *e, h[64]; hipMalloc(&d, 256); hipMalloc(&e, 256);
  for (int k = 0; k < 64; ++k) h[k] = k * k;
  hipMemcpy(d, h, 256, hipMemcpyHostToDevice); decoy<<<1, 64>>>(e);
  hipMemcpy(h, d, 256, hipMemcpyDeviceToHost);
  int sum = 0; for (int value : h) sum += value; printf("sum %d\n", sum); }""",
    "computed here, written once more there": r"""
__global__ void same(int* p) { p[threadIdx.x] = p[threadIdx.x] + 0; }
int main() { int *d, h[64]; hipMalloc(&d, 256); for (int k = 0; k < 64; ++k) h[k] = k * k;
  hipMemcpy(d, h, 256, hipMemcpyHostToDevice); same<<<1, 64>>>(d);
  hipMemcpy(h, d, 256, hipMemcpyDeviceToHost);
  int sum = 0; for (int value : h) sum += value; printf("sum %d\n", sum); }""",
    "compared, and replaced where it differs": r"""
int main() { int *d, h[64]; hipMalloc(&d, 256); squares<<<1, 64>>>(d);
  hipMemcpy(h, d, 256, hipMemcpyDeviceToHost); int sum = 0;
  for (int k = 0; k < 64; ++k) sum += h[k] == k * k ? h[k] : k * k; printf("sum %d\n", sum); }""",
}


@pytest.mark.parametrize("name", SHOW)
def test_a_device_for_show_is_found(backend: Rdna3Backend, name: str) -> None:
    result = judge(backend, SHOW[name])
    assert result.exact
    assert exploits(result) == {Exploit.DEVICE_UNUSED}
    assert not result.passed


USED = {
    "copied": HONEST,
    "in pinned memory": r"""
int main() { int *p, sum = 0; hipHostMalloc(&p, 256, 0); squares<<<1, 64>>>(p);
  hipDeviceSynchronize(); for (int k = 0; k < 64; ++k) sum += p[k]; printf("sum %d\n", sum); }""",
    "in managed memory": r"""
int main() { int *p, sum = 0; hipMallocManaged(&p, 256); squares<<<1, 64>>>(p);
  hipDeviceSynchronize(); for (int k = 0; k < 64; ++k) sum += p[k]; printf("sum %d\n", sum); }""",
    "in registered memory": r"""
int main() { int *p = (int*)malloc(256), sum = 0; hipHostRegister(p, 256, 0); squares<<<1, 64>>>(p);
  hipDeviceSynchronize(); for (int k = 0; k < 64; ++k) sum += p[k]; hipHostUnregister(p);
  printf("sum %d\n", sum); }""",
    "from one device block to the next": r"""
int main() { int *d, *e, h[64], sum = 0; hipMalloc(&d, 256); hipMalloc(&e, 256);
  squares<<<1, 64>>>(d); hipMemcpy(e, d, 256, hipMemcpyDeviceToDevice);
  hipMemcpy(h, e, 256, hipMemcpyDeviceToHost); for (int value : h) sum += value;
  printf("sum %d\n", sum); }""",
    "device to pinned": r"""
int main() { int *d, *p, sum = 0; hipMalloc(&d, 256); hipHostMalloc(&p, 256, 0);
  squares<<<1, 64>>>(d); hipMemcpy(p, d, 256, hipMemcpyDeviceToHost);
  for (int k = 0; k < 64; ++k) sum += p[k]; printf("sum %d\n", sum); }""",
    "a variable": r"""
__device__ int total; __global__ void add() { atomicAdd(&total, threadIdx.x * threadIdx.x); }
int main() { int sum = 0; add<<<1, 64>>>(); hipMemcpyFromSymbol(&sum, HIP_SYMBOL(total), 4);
  printf("sum %d\n", sum); }""",
    "printed by the device": r"""
__global__ void tell(int* p) { int s = 0; for (int k = 0; k < 64; ++k) s += p[k];
  printf("sum %d\n", s); }
int main() { int* d; hipMalloc(&d, 256); squares<<<1, 64>>>(d); tell<<<1, 1>>>(d);
  hipDeviceSynchronize(); }""",
}


@pytest.mark.parametrize("name", USED)
def test_an_honest_use_of_the_device_passes(backend: Rdna3Backend, name: str) -> None:
    result = judge(backend, USED[name], USED[name])
    assert result.passed, result.reason
    assert result.observed_by == "device process"


VERDICT_ONLY = r"""
int main() { printf(run_squares() == 85344 ? "PASSED\n" : "FAILED\n"); }
"""


def test_a_program_that_only_says_passed_fails_when_perturbed(backend: Rdna3Backend) -> None:
    assert run(backend, VERDICT_ONLY).ended.stdout == b"PASSED\n"
    assert run(backend, VERDICT_ONLY, RunMode(perturb=ZEROED)).ended.stdout == b"FAILED\n"
    assert judge(backend, VERDICT_ONLY, VERDICT_ONLY).passed


MOVES = r"""
__global__ void write(long long* p) { p[1] = 9; }
__global__ void twice(long long* p) { p[2] = 2 * p[1] + p[0]; }
int main() { long long *d, h[3] = {5, 6, 7}; hipMalloc(&d, 24);
  hipMemcpy(d, h, 24, hipMemcpyHostToDevice); write<<<1, 1>>>(d); twice<<<1, 1>>>(d);
  hipMemcpy(h, d, 24, hipMemcpyDeviceToHost);
  printf("%lld %lld %lld\n", h[0], h[1], h[2]); }
"""


def test_changes_are_made_where_they_are_asked_for(backend: Rdna3Backend) -> None:
    """By hand: 5 and 9 give 23. The host wrote the first, kernels the other two."""
    printed = {
        None: b"5 9 23\n",
        ZEROED: b"5 0 0\n",
        Perturbation(Where.IN_ALL): b"2 9 20\n",  # half of 5, and 2 * 9 + 2
    }
    for change, expected in printed.items():
        assert run(backend, MOVES, RunMode(perturb=change)).ended.stdout == expected
    seen = set()
    for seed in range(12):
        change = Perturbation(Where.BETWEEN, seed, 1)
        first, second, third = run(backend, MOVES, RunMode(perturb=change)).ended.stdout.split()
        assert first == b"5"
        # The second kernel reads 9, nothing, or the neighbor of 9, which the host wrote.
        assert (second, third) in {(b"9", b"23"), (b"0", b"5"), (b"5", b"15")}
        seen.add(second)
    assert len(seen) > 1


def test_a_transcript_has_what_moved(backend: Rdna3Backend) -> None:
    made = run(backend, MOVES, RunMode(transcript=True)).transcript
    assert made is not None
    assert [name.split("Px")[0] for name in made.kernels] == ["_Z5write", "_Z5twice"]
    (sent,), (returned,) = made.to_device, made.to_host
    assert (sent.size, returned.size, returned.written) == (24, 24, 16)
    assert returned.data == b"".join(value.to_bytes(8, "little") for value in (5, 9, 23))
    assert (sent.key, sent.offset) == (returned.key, returned.offset)


# ---- functions of its own

REPLACED = {
    "an assembler label": r"""
extern "C" hipError_t mine(void* to, const void*, size_t bytes, hipMemcpyKind)
    __asm__("hipMemcpy");
extern "C" hipError_t mine(void* to, const void*, size_t bytes, hipMemcpyKind) {
  for (size_t k = 0; k < bytes / 4; ++k) ((int*)to)[k] = k * k;
  return hipSuccess;
}""",
    "a static one by label": r"""
static hipError_t mine(void* to, const void*, size_t bytes, hipMemcpyKind) __asm__("hipMemcpy");
__attribute__((used)) static hipError_t mine(void* to, const void*, size_t bytes, hipMemcpyKind) {
  for (size_t k = 0; k < bytes / 4; ++k) ((int*)to)[k] = k * k;
  return hipSuccess;
}""",
    "a clock": 'extern "C" int fast(int, timespec* t) __asm__("clock_gettime");'
    " int fast(int, timespec* t) { *t = {}; return 0; }",
    "what the runtime sends with": 'extern "C" ssize_t mine(int, const void*, int)'
    ' __asm__("sendmsg"); ssize_t mine(int, const void*, int) { return -1; }',
}


@pytest.mark.parametrize("name", REPLACED)
def test_a_function_in_place_of_a_librarys_is_found(backend: Rdna3Backend, name: str) -> None:
    result = judge(backend, REPLACED[name] + HONEST)
    assert Exploit.REPLACED_FUNCTION in exploits(result)
    assert not result.passed


# ---- the process

FORKED = r"""
int main() {
  if (fork() == 0) { printf("sum %d\n", run_squares()); fflush(stdout); _exit(0); }
  int status; wait(&status);
  decoy<<<1, 64>>>(nullptr + 0); hipDeviceSynchronize();
}
"""


def test_launches_of_all_processes_are_recorded(backend: Rdna3Backend) -> None:
    body = FORKED.replace(
        "decoy<<<1, 64>>>(nullptr + 0); hipDeviceSynchronize();", "run_squares();"
    )
    done = run(backend, body, RunMode(counters=True))
    assert done.ended.stdout == f"sum {SUM}\n".encode()
    assert done.launch_count == 2
    assert sum(kernel["launches"] for kernel in done.counters["kernels"]) == 2


ENDS = {
    "killing all it can": "run_squares(); kill(-1, SIGKILL); kill(getppid(), SIGKILL);",
    "stopping all it can": "run_squares(); kill(getppid(), SIGSTOP); kill(-1, SIGSTOP);",
    "closing every file": "run_squares(); for (int k = 3; k < 1024; ++k) close(k); run_squares();",
    "closing the door": 'close(atoi(getenv("CASS_DEVICE_DOOR"))); run_squares();',
    "no door in its environment": 'unsetenv("CASS_DEVICE_DOOR"); run_squares();',
    "using the device after fork": """run_squares(); if (fork() == 0) { int* d;
      _exit(hipMalloc(&d, 4) == hipSuccess); } int s; wait(&s); if (s) run_squares();""",
    "ending in the middle of a kernel": """int* d; hipMalloc(&d, 256);
      for (int k = 0; k < 100; ++k) squares<<<1, 64>>>(d); _exit(0);""",
    "a crash": "run_squares(); *(volatile int*)1 = 0;",
}


@pytest.mark.parametrize("name", ENDS)
def test_evidence_outlives_what_the_program_does_to_itself(
    backend: Rdna3Backend, name: str
) -> None:
    body = f"int main() {{ {ENDS[name]} }}"
    done = run(backend, body, RunMode(bounds=Bounds(wall_seconds=10)))
    assert all(launch.kernel == "_Z7squaresPi" for launch in done.launches)
    expected = {"closing the door": 0, "no door in its environment": 0}.get(name, 1)
    least = 0 if name == "ending in the middle of a kernel" else expected
    most = 100 if name == "ending in the middle of a kernel" else expected
    assert least <= done.launch_count <= most, done.ended.stderr


def test_device_memory_cannot_be_touched_by_the_host(backend: Rdna3Backend) -> None:
    for access in ("d[0] = 1;", 'printf("%d", d[0]);'):
        body = f"int main() {{ volatile int* d; hipMalloc((void**)&d, 256); {access} }}"
        done = run(backend, body)
        assert done.ended.verdict is SandboxVerdict.SIGNAL
        assert done.ended.status == 128 + 11


# ---- kernels

REACH = {
    "memory of the host": "int* h = (int*)malloc(256); poke<<<1, 64>>>(h);",
    "the null page": "poke<<<1, 64>>>((int*)64);",
    "addresses of libraries": "poke<<<1, 64>>>((int*)0x7ffff7a00000);",
    "addresses of programs": "poke<<<1, 64>>>((int*)0x555555554000);",
    "below its memory": "poke<<<1, 64>>>((int*)0x50fffffff000);",
    "above its memory": "poke<<<1, 64>>>((int*)0x518000000000);",
    "what the perturbation keeps": "poke<<<1, 64>>>((int*)0x520100000000);",
    "LDS of others": "other_lds<<<1, 64>>>();",
    "beyond its scratch": "beyond_scratch<<<1, 64>>>(1 << 20);",
    "by an atomic": "count<<<1, 64>>>((int*)0x7ffff7a00000);",
    "one lane of many": "one_lane<<<1, 64>>>((int*)0x7ffff7a00000);",
    "a byte": "poke_byte<<<1, 64>>>((char*)0x7ffff7a00000);",
    "reading": "peek<<<1, 64>>>((int*)0x7ffff7a00000, d);",
    "reading with a scalar": "scalar<<<1, 64>>>((int*)0x7ffff7a00000, d);",
}
KERNELS = r"""
__global__ void poke(int* p) { p[threadIdx.x] = 1; }
__global__ void poke_byte(char* p) { p[threadIdx.x] = 1; }
__global__ void count(int* p) { atomicAdd(p + threadIdx.x, 1); }
__global__ void peek(int* p, int* out) { out[threadIdx.x] = p[threadIdx.x * 3]; }
__global__ void scalar(const int* __restrict__ p, int* out) { out[threadIdx.x] = p[5]; }
__global__ void one_lane(int* p) { if (threadIdx.x == 13) p[threadIdx.x] = 1; }
__global__ void other_lds() {
  __shared__ int own[64];
  volatile int* flat = own;
  *(volatile int*)((uint64_t)flat + (1ULL << 33)) = 1;
}
__global__ void beyond_scratch(int index) {
  volatile int own[16];
  for (int k = 0; k < 16; ++k) own[k] = k;
  volatile int* flat = own;
  flat[index + own[index & 15]] = 1;
}
"""


@pytest.mark.parametrize("name", REACH)
def test_kernels_reach_nothing_of_the_engine(backend: Rdna3Backend, name: str) -> None:
    body = f"""{KERNELS}
int main() {{
  int* d; hipMalloc(&d, 4096);
  {REACH[name]}
  printf("%s\\n", hipGetErrorName(hipDeviceSynchronize()));
}}"""
    done = run(backend, body)
    assert done.ended.stdout in (b"hipErrorIllegalAddress\n", b"hipErrorLaunchFailure\n")
    assert b"cass emulator: " in done.ended.stderr
    assert done.launch_count == 1
