// Preloaded into a program that uses the CUDA or HIP runtime as a shared library: counts kernel
// launches by kernel and launch configuration in a file that the parent process reads.
//
// The file (CASS_LAUNCH_RECORD, made here if need be) is mapped and holds RECORDS fixed records, so
// that counts survive a crash of the program. Layout: launches.py. With CASS_LAUNCH_SKIP=1 launches
// are counted and answered with success, and no kernel runs: a program that still prints the same
// does not get its results from the device. With CASS_LAUNCH_CHECK=1 a copy whose direction
// contradicts its pointers ends the program: runtimes that look at the pointers alone forgive it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORDS 1024
#define NAME_BYTES 464
#define KERNELS 4096

typedef struct {
  unsigned x, y, z;
} dim3;

typedef struct {
  uint64_t count;
  uint64_t shared_bytes;
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t reserved;
  char name[NAME_BYTES];
} Record;

typedef struct {
  const void* key;  // host function, or the runtime's handle of it
  const char* name;
} Kernel;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Record* records;
static Kernel kernels[KERNELS];
static int kernel_count;

static int skipping, checking;

__attribute__((constructor)) static void open_record(void) {
  // The programs that start this one (prlimit, bwrap, sh) are preloaded into as well.
  if (!dlsym(RTLD_NEXT, "__cudaRegisterFunction") && !dlsym(RTLD_NEXT, "__hipRegisterFunction"))
    return;
  const char* path = getenv("CASS_LAUNCH_RECORD");
  const char* skip = getenv("CASS_LAUNCH_SKIP");
  const char* check = getenv("CASS_LAUNCH_CHECK");
  skipping = skip && *skip == '1';
  checking = check && *check == '1';
  const int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file >= 0) {
    const size_t bytes = sizeof(Record) * RECORDS;
    if (ftruncate(file, bytes) == 0) {
      void* mapped = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (mapped != MAP_FAILED) records = mapped;
    }
    close(file);
  }
  // What the program starts is not this program, and it need not know of us.
  unsetenv("CASS_LAUNCH_RECORD");
  unsetenv("CASS_LAUNCH_SKIP");
  unsetenv("CASS_LAUNCH_CHECK");
  unsetenv("LD_PRELOAD");
}

static void remember(const void* key, const char* name) {
  pthread_mutex_lock(&lock);
  if (kernel_count < KERNELS) kernels[kernel_count++] = (Kernel){key, name};
  pthread_mutex_unlock(&lock);
}

static const char* name_of(const void* key) {
  for (int i = kernel_count - 1; i >= 0; --i)
    if (kernels[i].key == key) return kernels[i].name;
  return "";
}

static void count(const void* key, dim3 grid, dim3 block, size_t shared_bytes) {
  if (!records) return;
  pthread_mutex_lock(&lock);
  const char* name = name_of(key);
  const uint32_t g[3] = {grid.x, grid.y, grid.z}, b[3] = {block.x, block.y, block.z};
  for (int i = 0; i < RECORDS; ++i) {
    Record* record = &records[i];
    if (record->count == 0) {
      memcpy(record->grid, g, sizeof g);
      memcpy(record->block, b, sizeof b);
      record->shared_bytes = shared_bytes;
      strncpy(record->name, name, NAME_BYTES - 1);
    } else if (memcmp(record->grid, g, sizeof g) || memcmp(record->block, b, sizeof b) ||
               record->shared_bytes != shared_bytes ||
               strncmp(record->name, name, NAME_BYTES - 1)) {
      // The last record takes whatever does not fit any more.
      if (i != RECORDS - 1) continue;
    }
    ++record->count;
    break;
  }
  pthread_mutex_unlock(&lock);
}

#define NEXT(result, name, ...)       \
  static result (*next)(__VA_ARGS__); \
  if (!next) next = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name,
                            int threads, void* tid, void* bid, void* block, void* grid, int* size) {
  NEXT(void, "__cudaRegisterFunction", void**, const char*, char*, const char*, int, void*, void*,
       void*, void*, int*);
  remember(host, name);
  next(handle, host, device, name, threads, tid, bid, block, grid, size);
}

void __hipRegisterFunction(void** handle, const void* host, char* device, const char* name,
                           unsigned threads, void* tid, void* bid, void* block, void* grid,
                           int* size) {
  NEXT(void, "__hipRegisterFunction", void**, const void*, char*, const char*, unsigned, void*,
       void*, void*, void*, int*);
  remember(host, name);
  next(handle, host, device, name, threads, tid, bid, block, grid, size);
}

int __cudaGetKernel(void** kernel, const void* host) {
  NEXT(int, "__cudaGetKernel", void**, const void*);
  const int status = next(kernel, host);
  if (status == 0) remember(*kernel, name_of(host));
  return status;
}

#define LAUNCH(NAME)                                                                              \
  int NAME(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,      \
           void* stream) {                                                                        \
    NEXT(int, #NAME, const void*, dim3, dim3, void**, size_t, void*);                             \
    const int status = skipping ? 0 : next(kernel, grid, block, arguments, shared_bytes, stream); \
    if (status == 0) count(kernel, grid, block, shared_bytes);                                    \
    return status;                                                                                \
  }

// <<<…>>> becomes the first pair since CUDA 13, cudaLaunchKernel before.
LAUNCH(__cudaLaunchKernel)
LAUNCH(__cudaLaunchKernel_ptsz)
LAUNCH(cudaLaunchKernel)
LAUNCH(cudaLaunchKernel_ptsz)
LAUNCH(cudaLaunchCooperativeKernel)
LAUNCH(cudaLaunchCooperativeKernel_ptsz)
LAUNCH(hipLaunchKernel)
LAUNCH(hipLaunchKernel_spt)

// Its size is 32 bits wide, unlike CUDA's.
int hipLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                               unsigned shared_bytes, void* stream) {
  NEXT(int, "hipLaunchCooperativeKernel", const void*, dim3, dim3, void**, unsigned, void*);
  const int status = skipping ? 0 : next(kernel, grid, block, arguments, shared_bytes, stream);
  if (status == 0) count(kernel, grid, block, shared_bytes);
  return status;
}

int hipModuleGetFunction(void** function, void* module, const char* name) {
  NEXT(int, "hipModuleGetFunction", void**, void*, const char*);
  const int status = next(function, module, name);
  if (status == 0) remember(*function, strdup(name));
  return status;
}

int hipModuleLaunchKernel(void* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared_bytes, void* stream,
                          void** arguments, void** extra) {
  NEXT(int, "hipModuleLaunchKernel", void*, unsigned, unsigned, unsigned, unsigned, unsigned,
       unsigned, unsigned, void*, void**, void**);
  const int status =
      skipping ? 0 : next(kernel, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments, extra);
  if (status == 0) count(kernel, (dim3){gx, gy, gz}, (dim3){bx, by, bz}, shared_bytes);
  return status;
}

typedef struct {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
} LaunchConfiguration;  // the beginning of cudaLaunchConfig_t

#define LAUNCH_EXTENDED(NAME)                                                       \
  int NAME(const LaunchConfiguration* with, const void* kernel, void** arguments) { \
    NEXT(int, #NAME, const LaunchConfiguration*, const void*, void**);              \
    const int status = skipping ? 0 : next(with, kernel, arguments);                \
    if (status == 0) count(kernel, with->grid, with->block, with->shared_bytes);    \
    return status;                                                                  \
  }

LAUNCH_EXTENDED(cudaLaunchKernelExC)
LAUNCH_EXTENDED(cudaLaunchKernelExC_ptsz)
LAUNCH_EXTENDED(hipLaunchKernelExC)

// Directions, of CUDA and HIP alike.
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3 };
enum { UNREGISTERED_MEMORY = 0, HOST_MEMORY = 1, DEVICE_MEMORY = 2 };
#define WRONG_COPY_STATUS 86

typedef struct {
  int type;
  char rest[252];
} PointerAttributes;

static int memory_type(const void* address) {
  static int (*attributes)(PointerAttributes*, const void*);
  static int (*last_error)(void);
  if (!attributes) {
    *(void**)&last_error = dlsym(RTLD_NEXT, "hipGetLastError");
    *(void**)&attributes = dlsym(RTLD_NEXT, "hipPointerGetAttributes");
  }
  PointerAttributes found = {0};
  if (!attributes || attributes(&found, address) == 0) return found.type;
  if (last_error) last_error();  // what the question left behind
  return UNREGISTERED_MEMORY;
}

static void check_copy(const char* function, void* target, const void* source, int kind) {
  if (!checking || kind < HOST_TO_DEVICE || kind > DEVICE_TO_DEVICE) return;
  const int to = memory_type(target), from = memory_type(source);
  const int wrong = kind == HOST_TO_DEVICE   ? to <= HOST_MEMORY || from == DEVICE_MEMORY
                    : kind == DEVICE_TO_HOST ? to == DEVICE_MEMORY || from <= HOST_MEMORY
                                             : to <= HOST_MEMORY || from <= HOST_MEMORY;
  if (!wrong) return;
  dprintf(2, "%s: the direction %d contradicts the pointers (memory %d from memory %d)\n", function,
          kind, to, from);
  _exit(WRONG_COPY_STATUS);
}

int hipMemcpy(void* target, const void* source, size_t bytes, int kind) {
  NEXT(int, "hipMemcpy", void*, const void*, size_t, int);
  check_copy("hipMemcpy", target, source, kind);
  return next(target, source, bytes, kind);
}

int hipMemcpyAsync(void* target, const void* source, size_t bytes, int kind, void* stream) {
  NEXT(int, "hipMemcpyAsync", void*, const void*, size_t, int, void*);
  check_copy("hipMemcpyAsync", target, source, kind);
  return next(target, source, bytes, kind, stream);
}
