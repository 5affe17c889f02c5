// What the start-up code that nvcc generates calls: CUDA's fat binaries are replaced by the lifted
// ones that `cass run-binary` has made of them.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "registration.hpp"
#include "status.hpp"

using namespace cass::cuda;

// HIP's own registration functions (clang's CGCUDANV.cpp calls them).
extern "C" {
void** __hipRegisterFatBinary(const void* wrapper);
void __hipUnregisterFatBinary(void** handle);
void __hipRegisterFunction(void** handle, const void* host, char* name, const char* device_name,
                           unsigned thread_limit, void*, void*, void*, void*, int*);
void __hipRegisterVar(void** handle, void* host, char* name, char* device_name, int ext,
                      std::size_t size, int constant, int global);
void __hipRegisterManagedVar(void* handle, void** pointer, void* initial, const char* name,
                             std::size_t size, unsigned alignment);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, hipStream_t);
hipError_t __hipPopCallConfiguration(dim3*, dim3*, std::size_t*, hipStream_t*);
}

namespace {

constexpr std::uint32_t cuda_wrapper_magic = 0x466243B1;
constexpr std::uint32_t cuda_container_magic = 0xBA55ED50;
constexpr std::uint32_t hip_wrapper_magic = 0x48495046;  // "HIPF"
constexpr const char* directory_variable = "CASS_PORT_DIRECTORY";

struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  void* reserved;
};

// The header of a CUDA fat binary container.
struct Container {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t content_bytes;
};

struct ManagedVariable {
  void** pointer;    // the host's, to the managed memory
  std::string name;  // of its first value, in the lifted code
  std::size_t size;
  bool placed = false;
};

struct Binary {
  Wrapper wrapper;
  void** handle = nullptr;
  int capability = 0;  // of the machine code that it was lifted from: 80 for sm_80
  std::map<std::string, ClusterKernel> clusters;
  std::map<std::string, std::string> left_out;  // why, by the kernel's name; * stands for all
  std::deque<ManagedVariable> managed;  // their addresses are keys
};

std::uint32_t crc32(const unsigned char* bytes, std::size_t size) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t value = 0; value < made.size(); ++value) {
      auto entry = value;
      for (int bit = 0; bit < 8; ++bit) entry = entry >> 1 ^ (entry & 1 ? 0xEDB88320U : 0U);
      made[value] = entry;
    }
    return made;
  }();
  std::uint32_t sum = ~0U;
  for (std::size_t at = 0; at < size; ++at) sum = table[(sum ^ bytes[at]) & 255] ^ sum >> 8;
  return ~sum;
}

// The name of the lifted file of a container: as cass_ray/port/fatbin.py makes it.
std::string key_of(const Container& container) {
  const auto size = container.header_bytes + container.content_bytes;
  const auto sum = crc32(reinterpret_cast<const unsigned char*>(&container), size);
  char text[48];
  std::snprintf(text, sizeof text, "%08x-%llu", sum, static_cast<unsigned long long>(size));
  return text;
}

const void* map_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status{};
  void* memory = MAP_FAILED;
  if (fstat(file, &status) == 0) {
    memory =
        mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  return memory == MAP_FAILED ? nullptr : memory;
}

int read_number(const std::string& path) {
  int number = 0;
  if (std::FILE* file = std::fopen(path.c_str(), "re")) {
    if (std::fscanf(file, "%d", &number) != 1) number = 0;
    std::fclose(file);
  }
  return number;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Lines of a name, a blank and the reason (write_fat_binaries of cass_ray/port/lifting.py).
std::map<std::string, std::string> reasons(const std::string& path) {
  std::map<std::string, std::string> found;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto blank = line.find(' ');
    if (blank != std::string::npos) found[line.substr(0, blank)] = line.substr(blank + 1);
  }
  return found;
}

const void* lifted(const Container& container, Binary& binary) {
  const char* folder = std::getenv(directory_variable);
  if (folder == nullptr) {
    report_once("start the program with `cass run-binary`: CASS_PORT_DIRECTORY is not set");
    return nullptr;
  }
  const auto key = key_of(container);
  const auto path = std::string(folder) + "/" + key;
  const auto* image = map_file(path + ".hipfb");
  if (image == nullptr) report_once("no lifted device code for fat binary " + key);
  binary.capability = read_number(path + ".capability");
  binary.left_out = reasons(path + ".left_out");
  binary.clusters = read_cluster_kernels(read_text(path + ".clusters"));
  return image;
}

// Programs register before main() and when a library is loaded, and ask from any thread.
struct Capabilities {
  std::mutex guard;
  std::map<const void*, int> by_kernel;
  std::map<const void*, std::string> left_out;
  std::map<const void*, RegisteredCluster> clusters;  // never moved: HIP knows some by address
  std::vector<const ManagedVariable*> managed;
};

Capabilities& capabilities() {
  static auto& all = *new Capabilities;  // never destroyed: programs ask in their destructors
  return all;
}

Binary* binary_of(void** handle) { return reinterpret_cast<Binary*>(handle); }

void note_if_left_out(const Binary& binary, const void* host, const std::string& name) {
  auto found = binary.left_out.find(name);
  if (found == binary.left_out.end()) found = binary.left_out.find("*");
  if (found == binary.left_out.end()) return;
  const std::lock_guard lock(capabilities().guard);
  capabilities().left_out[host] = name + ": " + found->second;
}

// Gives managed variables the values that they start with.
void place_managed(Binary& binary) {
  for (auto& variable : binary.managed) {
    void* first = nullptr;
    const void* symbol = &variable;  // not the template, which takes addresses of variables
    if (variable.placed || hipGetSymbolAddress(&first, symbol) != hipSuccess) continue;
    variable.placed =
        hipMemcpy(*variable.pointer, first, variable.size, hipMemcpyDefault) == hipSuccess;
  }
}

}  // namespace

int cass::cuda::capability_of(const void* kernel) {
  const std::lock_guard lock(capabilities().guard);
  const auto found = capabilities().by_kernel.find(kernel);
  return found == capabilities().by_kernel.end() ? 0 : found->second;
}

std::string cass::cuda::left_out(const void* kernel) {
  const std::lock_guard lock(capabilities().guard);
  const auto found = capabilities().left_out.find(kernel);
  return found == capabilities().left_out.end() ? std::string() : found->second;
}

RegisteredCluster* cass::cuda::registered_cluster(const void* kernel) {
  const std::lock_guard lock(capabilities().guard);
  const auto found = capabilities().clusters.find(kernel);
  return found == capabilities().clusters.end() ? nullptr : &found->second;
}

ManagedMemory cass::cuda::managed_variable(const void* symbol) {
  const std::lock_guard lock(capabilities().guard);
  for (const auto* each : capabilities().managed) {
    if (symbol != nullptr && *each->pointer == symbol) return {*each->pointer, each->size};
  }
  return {nullptr, 0};
}

CUDA_API void** __cudaRegisterFatBinary(const void* data) {
  const auto* given = static_cast<const Wrapper*>(data);
  const auto* container =
      given->magic == cuda_wrapper_magic ? static_cast<const Container*>(given->data) : nullptr;
  auto* binary = new Binary;
  if (container == nullptr || container->magic != cuda_container_magic) {
    report_once("the program's device code is in no format that this library knows");
  } else if (const void* image = lifted(*container, *binary)) {
    binary->wrapper = {hip_wrapper_magic, 1, image, nullptr};
    binary->handle = __hipRegisterFatBinary(&binary->wrapper);
  }
  return reinterpret_cast<void**>(binary);
}

CUDA_API void __cudaRegisterFatBinaryEnd(void** handle) { place_managed(*binary_of(handle)); }

CUDA_API void __cudaUnregisterFatBinary(void** handle) {
  auto* binary = binary_of(handle);
  if (binary->handle != nullptr) __hipUnregisterFatBinary(binary->handle);
}

CUDA_API void __cudaRegisterFunction(void** handle, const char* host, char* name,
                                     const char* device_name, int thread_limit, void* tid,
                                     void* bid, void* block, void* grid, int* size) {
  note_if_left_out(*binary_of(handle), host, device_name);
  if (binary_of(handle)->handle == nullptr) return;
  {
    const std::lock_guard lock(capabilities().guard);
    capabilities().by_kernel[host] = binary_of(handle)->capability;
  }
  const auto registered = [&](const void* known_by, const char* symbol) {
    __hipRegisterFunction(binary_of(handle)->handle, known_by, name, symbol,
                          static_cast<unsigned>(thread_limit), tid, bid, block, grid, size);
  };
  registered(host, device_name);
  const auto in_clusters = binary_of(handle)->clusters.find(device_name);
  if (in_clusters == binary_of(handle)->clusters.end()) return;
  const std::lock_guard lock(capabilities().guard);
  auto& made = capabilities().clusters[host];
  made = {in_clusters->second, host, in_clusters->second.is_fixed()};
  if (made.is_compiled_so || made.kernel.symbol.empty()) return;
  made.launched = &made;
  registered(made.launched, made.kernel.symbol.c_str());
}

CUDA_API void __cudaRegisterVar(void** handle, char* host, char* name, const char* device_name,
                                int ext, std::size_t size, int constant, int global) {
  if (binary_of(handle)->handle == nullptr) return;
  __hipRegisterVar(binary_of(handle)->handle, host, name, const_cast<char*>(device_name), ext, size,
                   constant, global);
}

// As HIP has them: `pointer`, the host's variable, and a device variable of that name point to
// managed memory; what it starts with is another device variable (cass_ray/lift/module.py).
CUDA_API void __cudaRegisterManagedVar(void** handle, void** pointer, char* name,
                                       const char* device_name, int ext, std::size_t size,
                                       int constant, int global) {
  auto* binary = binary_of(handle);
  if (binary->handle == nullptr) return;
  constexpr unsigned alignment = 256;
  __hipRegisterManagedVar(binary->handle, pointer, nullptr, device_name, size, alignment);
  auto& variable = binary->managed.emplace_back(
      ManagedVariable{pointer, std::string(device_name) + ".managed", size});
  {
    const std::lock_guard lock(capabilities().guard);
    capabilities().managed.push_back(&variable);
  }
  __hipRegisterVar(binary->handle, &variable, name, variable.name.data(), ext, size, constant,
                   global);
}

CUDA_API void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}

CUDA_API char __cudaInitModule(void** handle) {
  place_managed(*binary_of(handle));
  return 1;
}

CUDA_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                              hipStream_t stream) {
  return static_cast<unsigned>(finish(__hipPushCallConfiguration(grid, block, shared, stream)));
}

CUDA_API int __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                        void* stream) {
  return finish(__hipPopCallConfiguration(grid, block, shared, static_cast<hipStream_t*>(stream)));
}
