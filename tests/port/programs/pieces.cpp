// Two pieces of device code that are linked while the program runs, and copies of two and three
// dimensions. Arguments: the kind of the pieces (ptx or cubin) and their files.
#include <cuda.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "expect.h"

namespace {

#define DONE(call) EXPECT((call) == CUDA_SUCCESS)

std::vector<char> content(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// main.cu: out[i] = twice(i) + 1, with twice() in the other piece.
void linked(CUjitInputType kind, const char *first, const char *second) {
  CUlinkState state;
  char log[400] = "";
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  auto piece = content(first);
  if (kind == CU_JIT_INPUT_PTX) piece.push_back(0);

  DONE(cuLinkCreate(2, names, values, &state));
  DONE(cuLinkAddData(state, kind, piece.data(), piece.size(), "first", 0, nullptr, nullptr));
  void *cubin = nullptr;
  std::size_t bytes = 0;
  EXPECT(cuLinkComplete(state, &cubin, &bytes) != CUDA_SUCCESS);
  EXPECT(std::strstr(log, "twice") != nullptr);  // what is missing is named
  DONE(cuLinkDestroy(state));

  DONE(cuLinkCreate(0, nullptr, nullptr, &state));
  DONE(cuLinkAddData(state, kind, piece.data(), piece.size(), "first", 0, nullptr, nullptr));
  DONE(cuLinkAddFile(state, kind, second, 0, nullptr, nullptr));
  EXPECT(cuLinkAddFile(state, kind, "absent", 0, nullptr, nullptr) == CUDA_ERROR_FILE_NOT_FOUND);
  char wrong[] = ".version 8.0\n.target sm_80\n.address_size 64\nrubbish\n";
  EXPECT(cuLinkAddData(state, CU_JIT_INPUT_PTX, wrong, sizeof wrong, "wrong", 0, nullptr, nullptr) ==
         CUDA_ERROR_INVALID_PTX);
  EXPECT(cuLinkAddData(state, CU_JIT_INPUT_NVVM, wrong, sizeof wrong, "nvvm", 0, nullptr, nullptr) ==
         CUDA_ERROR_NOT_SUPPORTED);
  DONE(cuLinkComplete(state, &cubin, &bytes));
  EXPECT(bytes > 4 && std::memcmp(cubin, "\177ELF", 4) == 0);
  CUmodule module;
  DONE(cuModuleLoadData(&module, cubin));
  DONE(cuLinkDestroy(state));

  CUfunction fill;
  CUdeviceptr memory;
  int found[64];
  DONE(cuModuleGetFunction(&fill, module, "fill"));
  DONE(cuMemAlloc(&memory, sizeof found));
  void *parameters[] = {&memory};
  DONE(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  DONE(cuMemcpyDtoH(found, memory, sizeof found));
  for (int i = 0; i < 64; ++i) EXPECT(found[i] == 2 * i + 1);
  DONE(cuMemFree(memory));
  DONE(cuModuleUnload(module));
}

// A window of 5 x 3 bytes of a matrix of 10 x 6 to a place in one on the device, and back.
void copies_of_two_dimensions() {
  unsigned char host[6][10], back[6][10] = {};
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x) host[y][x] = static_cast<unsigned char>(10 * y + x);
  CUdeviceptr memory;
  std::size_t pitch = 0;
  DONE(cuMemAllocPitch(&memory, &pitch, 20, 8, 4));
  DONE(cuMemsetD2D8(memory, pitch, 0xEE, 20, 8));
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.srcPitch = 10;
  copy.srcXInBytes = 2, copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.dstPitch = pitch;
  copy.dstXInBytes = 7, copy.dstY = 4;
  copy.WidthInBytes = 5, copy.Height = 3;
  DONE(cuMemcpy2D(&copy));
  std::vector<unsigned char> all(pitch * 8);
  DONE(cuMemcpyDtoH(all.data(), memory, all.size()));
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t x = 0; x < 20; ++x) {
      const bool inside = x >= 7 && x < 12 && y >= 4 && y < 7;
      EXPECT(all[y * pitch + x] == (inside ? host[y - 3][x - 5] : 0xEE));
    }
  CUDA_MEMCPY2D to_host{};
  to_host.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  to_host.srcDevice = memory;
  to_host.srcPitch = pitch;
  to_host.srcXInBytes = 7, to_host.srcY = 4;
  to_host.dstMemoryType = CU_MEMORYTYPE_HOST;
  to_host.dstHost = back;
  to_host.dstPitch = 10;
  to_host.WidthInBytes = 5, to_host.Height = 3;
  DONE(cuMemcpy2DAsync(&to_host, nullptr));
  DONE(cuStreamSynchronize(nullptr));
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x) EXPECT(back[y][x] == (x < 5 && y < 3 ? host[y + 1][x + 2] : 0));
  to_host.dstPitch = 4;  // narrower than a row
  EXPECT(cuMemcpy2D(&to_host) == CUDA_ERROR_INVALID_VALUE);
  to_host.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT(cuMemcpy2D(&to_host) == CUDA_ERROR_NOT_SUPPORTED);
  EXPECT(cuMemcpy2D(nullptr) == CUDA_ERROR_INVALID_VALUE);
  DONE(cuMemFree(memory));
}

// Of a block of 4 x 3 x 2 words, 2 x 2 x 2 from (1, 1, 0) to (0, 1, 1) of one of 3 x 4 x 3.
void copies_of_three_dimensions() {
  int host[2][3][4], found[3][4][3];
  for (int n = 0; n < 24; ++n) (&host[0][0][0])[n] = n + 1;
  CUdeviceptr memory;
  DONE(cuMemAlloc(&memory, sizeof found));
  DONE(cuMemsetD2D32(memory, 12, 0x1234, 3, 12));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.srcPitch = 16, copy.srcHeight = 3;
  copy.srcXInBytes = 4, copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.dstPitch = 12, copy.dstHeight = 4;
  copy.dstY = 1, copy.dstZ = 1;
  copy.WidthInBytes = 8, copy.Height = 2, copy.Depth = 2;
  DONE(cuMemcpy3D(&copy));
  DONE(cuMemcpyDtoH(found, memory, sizeof found));
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 3; ++x) {
        const bool inside = x < 2 && (y == 1 || y == 2) && z >= 1;
        EXPECT(found[z][y][x] == (inside ? host[z - 1][y][x + 1] : 0x1234));
      }
  copy.Depth = 0;
  DONE(cuMemcpy3DAsync(&copy, nullptr));
  // Halves in columns 0 to 2 of four rows that are 10 bytes apart.
  unsigned short halves[20];
  DONE(cuMemsetD2D8(memory, 40, 0, 40, 1));
  DONE(cuMemsetD2D16Async(memory, 10, 0xABCD, 3, 4, nullptr));
  DONE(cuMemcpyDtoH(halves, memory, sizeof halves));
  for (int n = 0; n < 20; ++n) EXPECT(halves[n] == (n % 5 < 3 ? 0xABCD : 0));
  DONE(cuMemFree(memory));
}

}  // namespace

int main(int, char **arguments) {
  CUdevice device;
  CUcontext context;
  DONE(cuInit(0));
  DONE(cuDeviceGet(&device, 0));
  DONE(cuDevicePrimaryCtxRetain(&context, device));
  DONE(cuCtxSetCurrent(context));
  const bool is_ptx = std::string(arguments[1]) == "ptx";
  linked(is_ptx ? CU_JIT_INPUT_PTX : CU_JIT_INPUT_CUBIN, arguments[2], arguments[3]);
  copies_of_two_dimensions();
  copies_of_three_dimensions();
  return failures;
}
