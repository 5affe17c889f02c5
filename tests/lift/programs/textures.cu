#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
struct Pair { cudaTextureObject_t object[2]; };
__global__ void sample1(cudaTextureObject_t t, float* o) { o[threadIdx.x] = tex1D<float>(t, threadIdx.x * 0.75f - 2.0f); }
__global__ void sample2(cudaTextureObject_t t, float4* o) { o[threadIdx.x] = tex2D<float4>(t, threadIdx.x * 0.5f - 3.0f, threadIdx.x * 0.25f); }
__global__ void part(cudaTextureObject_t t, float* o) { const float4 v = tex2D<float4>(t, threadIdx.x * 0.5f, 2.5f); o[threadIdx.x] = v.w * 2 + v.y; }
__global__ void sample3(cudaTextureObject_t t, float* o) { o[threadIdx.x] = tex3D<float>(t, threadIdx.x * 0.3f, threadIdx.x * 0.2f, threadIdx.x * 0.1f); }
__global__ void fetch(cudaTextureObject_t t, int4* o, int from) { o[threadIdx.x] = tex1Dfetch<int4>(t, from + threadIdx.x); }
__global__ void layers(cudaTextureObject_t t, float* o, int layer) { o[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x * 0.5f, 1.5f, layer); }
__global__ void level(cudaTextureObject_t t, float4* o) { o[threadIdx.x] = tex2DLod<float4>(t, threadIdx.x * 0.5f, 0.5f, 0.0f); }
__global__ void choose(cudaTextureObject_t a, cudaTextureObject_t b, float4* o) { o[threadIdx.x] = tex2D<float4>(threadIdx.x % 3 ? a : b, threadIdx.x * 0.5f, 1.0f); }
__global__ void listed(const cudaTextureObject_t* t, float4* o, int n) { float4 s = {}; for (int k = 0; k < n; ++k) { const float4 v = tex2D<float4>(t[(k + threadIdx.x) % 2], threadIdx.x * 0.5f, k); s.x += v.x; s.y += v.y; s.z += v.z; s.w += v.w; } o[threadIdx.x] = s; }
__global__ void held(Pair pair, float4* o, int which) { o[threadIdx.x] = tex2D<float4>(pair.object[which], threadIdx.x * 0.5f, 2.0f); }
template <typename T> __global__ void surface(cudaSurfaceObject_t s, int width, int height) {
  const int x = threadIdx.x % width, y = threadIdx.x / width;
  if (y >= height) return;
  T v; surf2Dread(&v, s, x * (int)sizeof(T), y);
  T w; surf2Dread(&w, s, (width - 1 - x) * (int)sizeof(T), y, cudaBoundaryModeZero);
  auto* p = reinterpret_cast<unsigned char*>(&v); const auto* q = reinterpret_cast<const unsigned char*>(&w);
  for (int k = 0; k < (int)sizeof(T); ++k) p[k] = p[k] * 3 + q[k];
  __syncthreads();
  surf2Dwrite(v, s, x * (int)sizeof(T), y);
}
__global__ void surface3(cudaSurfaceObject_t s) { float v; surf3Dread(&v, s, (threadIdx.x % 8) * 4, threadIdx.x / 8 % 4, threadIdx.x / 32); surf3Dwrite(v * 2 + 1, s, (threadIdx.x % 8) * 4, threadIdx.x / 8 % 4, threadIdx.x / 32); }
#define CK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)
static void show(const char* name, const float* v, int n) { printf("%s", name); for (int k = 0; k < n; ++k) printf(" %.6g", v[k]); printf("\n"); }
static cudaTextureObject_t textureOf(cudaArray_t a, cudaTextureFilterMode f, cudaTextureAddressMode m, cudaTextureReadMode r = cudaReadModeElementType) {
  cudaResourceDesc resource = {}; resource.resType = cudaResourceTypeArray; resource.res.array.array = a;
  cudaTextureDesc d = {}; for (int k = 0; k < 3; ++k) d.addressMode[k] = m; d.filterMode = f; d.readMode = r; d.normalizedCoords = 0;
  cudaTextureObject_t t = 0; if (cudaCreateTextureObject(&t, &resource, &d, nullptr) != cudaSuccess) printf("no texture\n"); return t;
}
template <typename T> int surfaces(const char* name) {
  const int width = 8, height = 4; std::vector<unsigned char> bytes(width * height * sizeof(T)); for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = (unsigned char)(k * 37 + 11);
  const cudaChannelFormatDesc d = cudaCreateChannelDesc<T>(); cudaArray_t a; CK(cudaMallocArray(&a, &d, width, height, cudaArraySurfaceLoadStore));
  CK(cudaMemcpy2DToArray(a, 0, 0, bytes.data(), width * sizeof(T), width * sizeof(T), height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {}; resource.resType = cudaResourceTypeArray; resource.res.array.array = a; cudaSurfaceObject_t s; CK(cudaCreateSurfaceObject(&s, &resource));
  surface<T><<<1, 32>>>(s, width, height); CK(cudaDeviceSynchronize());
  CK(cudaMemcpy2DFromArray(bytes.data(), width * sizeof(T), a, 0, 0, width * sizeof(T), height, cudaMemcpyDeviceToHost));
  printf("%s", name); for (unsigned char b : bytes) printf(" %02x", b); printf("\n");
  CK(cudaDestroySurfaceObject(s)); CK(cudaFreeArray(a)); return 0;
}
int main() {
  const int n = 32; float *out; CK(cudaMalloc(&out, n * 16)); std::vector<float> host(n * 4);
  auto get = [&](const char* name, int count) { if (cudaDeviceSynchronize() != cudaSuccess) printf("failed "); if (cudaMemcpy(host.data(), out, count * 4, cudaMemcpyDeviceToHost) != cudaSuccess) printf("no copy "); show(name, host.data(), count); };
  const cudaChannelFormatDesc f1 = cudaCreateChannelDesc<float>(), f4 = cudaCreateChannelDesc<float4>(), b4 = cudaCreateChannelDesc<uchar4>();
  std::vector<float> data(16 * 8 * 4); for (size_t k = 0; k < data.size(); ++k) data[k] = (float)((k * 7919) % 101) - 50;
  cudaArray_t one, two, bytes; CK(cudaMallocArray(&one, &f1, 16)); CK(cudaMemcpy2DToArray(one, 0, 0, data.data(), 64, 64, 1, cudaMemcpyHostToDevice));
  CK(cudaMallocArray(&two, &f4, 16, 8)); CK(cudaMemcpy2DToArray(two, 0, 0, data.data(), 256, 256, 8, cudaMemcpyHostToDevice));
  CK(cudaMallocArray(&bytes, &b4, 16, 8)); CK(cudaMemcpy2DToArray(bytes, 0, 0, data.data(), 64, 64, 8, cudaMemcpyHostToDevice));
  cudaTextureObject_t t1 = textureOf(one, cudaFilterModePoint, cudaAddressModeClamp), t1l = textureOf(one, cudaFilterModeLinear, cudaAddressModeBorder);
  cudaTextureObject_t t2 = textureOf(two, cudaFilterModePoint, cudaAddressModeClamp), t2l = textureOf(two, cudaFilterModeLinear, cudaAddressModeBorder), tb = textureOf(bytes, cudaFilterModePoint, cudaAddressModeClamp, cudaReadModeNormalizedFloat);
  sample1<<<1, n>>>(t1, out); get("1d", n); sample1<<<1, n>>>(t1l, out); get("1d linear", n);
  sample2<<<1, n>>>(t2, (float4*)out); get("2d", 4 * n); sample2<<<1, n>>>(t2l, (float4*)out); get("2d linear", 4 * n); sample2<<<1, n>>>(tb, (float4*)out); get("bytes", 4 * n);
  part<<<1, n>>>(t2, out); get("part", n); level<<<1, n>>>(t2, (float4*)out); get("level", 4 * n);
  choose<<<1, n>>>(t2, t2l, (float4*)out); get("choose", 4 * n); held<<<1, n>>>(Pair{{t2, t2l}}, (float4*)out, 1); get("held", 4 * n);
  cudaTextureObject_t list[2] = {t2, tb}, *listOn; CK(cudaMalloc(&listOn, sizeof list)); CK(cudaMemcpy(listOn, list, sizeof list, cudaMemcpyHostToDevice)); listed<<<1, n>>>(listOn, (float4*)out, 5); get("listed", 4 * n);
  cudaArray_t three; CK(cudaMalloc3DArray(&three, &f1, make_cudaExtent(8, 4, 2), cudaArraySurfaceLoadStore));
  cudaMemcpy3DParms copy = {}; copy.srcPtr = make_cudaPitchedPtr(data.data(), 32, 8, 4); copy.dstArray = three; copy.extent = make_cudaExtent(8, 4, 2); copy.kind = cudaMemcpyHostToDevice; CK(cudaMemcpy3D(&copy));
  cudaTextureObject_t t3 = textureOf(three, cudaFilterModeLinear, cudaAddressModeClamp); sample3<<<1, n>>>(t3, out); get("3d", n);
  cudaResourceDesc on3 = {}; on3.resType = cudaResourceTypeArray; on3.res.array.array = three; cudaSurfaceObject_t s3; CK(cudaCreateSurfaceObject(&s3, &on3)); surface3<<<1, 64>>>(s3); sample3<<<1, n>>>(t3, out); get("3d surface", n);
  cudaArray_t layered; CK(cudaMalloc3DArray(&layered, &f1, make_cudaExtent(8, 4, 3), cudaArrayLayered)); copy.srcPtr = make_cudaPitchedPtr(data.data(), 32, 8, 4); copy.dstArray = layered; copy.extent = make_cudaExtent(8, 4, 3); CK(cudaMemcpy3D(&copy));
  cudaTextureObject_t tl = textureOf(layered, cudaFilterModePoint, cudaAddressModeClamp); for (int l = 0; l < 3; ++l) { layers<<<1, n>>>(tl, out, l); get("layer", n); }
  std::vector<int> ints(4 * 40); for (size_t k = 0; k < ints.size(); ++k) ints[k] = (int)k * 3; int* linear; CK(cudaMalloc(&linear, ints.size() * 4)); CK(cudaMemcpy(linear, ints.data(), ints.size() * 4, cudaMemcpyHostToDevice));
  cudaResourceDesc lr = {}; lr.resType = cudaResourceTypeLinear; lr.res.linear.devPtr = linear; lr.res.linear.desc = cudaCreateChannelDesc<int4>(); lr.res.linear.sizeInBytes = ints.size() * 4; cudaTextureDesc ld = {}; ld.readMode = cudaReadModeElementType; cudaTextureObject_t tf; CK(cudaCreateTextureObject(&tf, &lr, &ld, nullptr));
  fetch<<<1, n>>>(tf, (int4*)out, 20); CK(cudaDeviceSynchronize()); std::vector<int> back(4 * n); CK(cudaMemcpy(back.data(), out, n * 16, cudaMemcpyDeviceToHost)); printf("fetch"); for (int v : back) printf(" %d", v); printf("\n");
  return surfaces<unsigned char>("u8") | surfaces<short>("s16") | surfaces<int>("s32") | surfaces<uchar4>("u8x4") | surfaces<float2>("f32x2") | surfaces<float4>("f32x4");
}
