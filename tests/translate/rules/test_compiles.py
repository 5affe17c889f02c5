"""Translated code is compiled for AMD: every snippet, and PTX by example."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.toolchain.hip.nvidia_platform import DEFINITIONS, FORCED_HEADER, hip_nvidia_include
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.translate.protocol import Context
from cass_ray.translate.repair.hip_compiler import HipCompiler
from cass_ray.translate.rules import RulesTranslator, tables

INTRINSICS = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void k(float*f,double*d,unsigned*u,int*i,__nv_bfloat16*b,
 float4*q4){
 f[0]=__fadd_rd(f[1],__fmul_rn(f[2],f[3])); f[1]=__fmaf_rz(f[0],f[1],f[2]); f[2]=__frcp_ru(f[1]);
  f[3]=__fsqrt_rz(f[2]); d[0]=__dsub_ru(d[0],d[1]); d[1]=__fma_rd(d[0],d[1],d[2]);
 u[0]=__vadd4(u[1],u[2]); u[3]=__vsetgtu2(u[0],u[1]); u[4]=__vsadu4(u[0],u[1]);
  u[5]=__vabsss2(u[4]); u[6]=__vavgs4(u[0],u[1]);
 i[0]=__dp4a(i[1],i[2],i[3]); i[1]=__dp4a(u[1],u[2],u[3]); u[7]=umin(u[0],u[1]);
  __nanosleep(100); i[2]=(int)clock64(); __stcg(i,3); f[9]=__ldcs(f)+__ldcg(q4).x; i[3]=__ldcv(i);
 __shared__ int s[3]; u[8]=__isShared(s); u[9]=(unsigned)__cvta_generic_to_shared(s);
  __half h=__double2half(d[0]); f[5]=__half2float(h);
 b[0]=__float2bfloat16_rn(f[0]); __nv_bfloat162 bb=__floats2bfloat162_rn(f[0],f[1]); b[1]=bb.x;
  b[2]=__int2bfloat16_rn(i[0]); atomicAdd_block(i,1); atomicInc_system(u,3); __trap();
 unsigned m=__match_any_sync(~0u,i[0]); int p; m+=__match_all_sync(m,i[1],&p);
  u[10]=__reduce_max_sync(m,u[0]); __syncwarp(m); if(m==7) return;
  u[20]=__syncthreads_count(m)+__syncthreads_and(m)+__syncthreads_or(m);
  u[11]=__ballot_sync(m,p)+__any_sync(m,p)+__all_sync(m,p)+__uni_sync(m,p)+__activemask();
 u[12]=__uhadd(u[0],u[1])+__urhadd(u[0],u[1]); i[4]=__rhadd(i[0],i[1]);
 u[13]=max(i[5],u[6])+min(i[7],u[8]); i[8]=__float2ll_rn(f[0])+lrintf(f[1]);
 i[9]=__viaddmax_s32_relu(i[0],i[1],i[2]); float sine,cosine; sincos(f[2],&sine,&cosine);
  f[3]=__saturatef(sine)+remquof(f[1],f[2],i);
}
"""

PTX = r"""
__device__ unsigned lane() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ unsigned f(unsigned a, unsigned b, unsigned *p, float *q, float x, unsigned long long
    w) {
  unsigned r, c; int s; float y; unsigned long long l;
  asm volatile("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(5));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(c) : "r"(a), "r"(b), "r"(r));
  asm("prmt.b32 %0, %1, %2, 0x0123;" : "=r"(r) : "r"(a), "r"(b));
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(l) : "r"(a), "r"(b), "l"(w));
  asm("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\tselp.u32 %0, 7, %2, p;\n}" : "=r"(r)
    : "r"(a), "r"(b));
  asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %4, 0;" : "=r"(r), "=r"(c) : "r"(a), "r"(b), "r"(c));
  asm volatile("ld.global.cg.f32 %0, [%1+4];" : "=f"(y) : "l"(q));
  asm volatile("st.global.wt.f32 [%0], %1;" :: "l"(q), "f"(x) : "memory");
  asm volatile("red.global.add.u32 [%0], %1;" :: "l"(p), "r"(a));
  asm volatile("membar.gl;" ::: "memory");
  asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];"
    : "=f"(y),"=f"(x),"=f"(q[0]),"=f"(q[1]) : "l"(q));
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(s) : "f"(x));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  asm("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(r) : "r"(r));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(r), "=r"(c) : "l"(l));
  asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(y) : "f"(x), "f"(x));
  __shared__ float buf[64]; unsigned sm = (unsigned)__cvta_generic_to_shared(buf);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(sm), "l"(q));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(sm), "l"(q), "r"(a));
  asm volatile("cp.async.commit_group;"); asm volatile("cp.async.wait_group %0;" :: "n"(0));
  asm volatile("st.shared.f32 [%0], %1;" :: "r"(sm), "f"(x));
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(c) : "r"(a), "r"(b), "r"(c));
  asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(s) : "f"(x));
  asm("{ .reg .pred p; shfl.up.sync.b32 %0|p, %1, %2, %3, -1; @p add.u32 %0, %0, 1; }"
    : "=r"(r) : "r"(a), "r"(b), "r"(c));
  asm("vset4.u32.u32.lt.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  asm("add.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  if (a == 7) asm("trap;"); else asm("brev.b32 %0, %1;" : "=r"(r) : "r"(a));
  return r + c + s + (unsigned)l + (unsigned)y;
}
#define BFI(d,a,b,p,n) asm("bfi.b32 %0, %1, %2, %3, %4;" \
   : "=r"(d) : "r"(a), "r"(b), "r"(p), "r"(n))
__global__ void k(unsigned*p,float*q){ p[0]=f(p[0],p[1],p,q,1.f,2)+lane();
    BFI(p[3],p[1],p[2],3,4);}
"""

GROUPS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
struct Pair { double a; int b; };
__global__ void k(int* p, double* q) {
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, s, p, sizeof(int) * 64);
  cg::wait(block);
  auto tile = cg::tiled_partition<16>(block);
  int v = cg::reduce(tile, s[threadIdx.x], cg::plus<int>());
  v += cg::inclusive_scan(tile, v) + cg::exclusive_scan(tile, v, cg::greater<int>());
  q[threadIdx.x] = cg::reduce(tile, q[threadIdx.x], [](double a, double b) { return a * b; });
  auto active = cg::coalesced_threads();
  v += tile.any(v > 1) + tile.all(v > 2) + tile.ballot(v > 3) + active.ballot(v > 4);
  p[threadIdx.x] = cg::reduce(active, v, cg::less<int>());
  p[0] += cg::labeled_partition(tile, v % 3).size() + cg::tiled_partition(active, 4).size();
}
"""

CUB_WARPS = """
#include <cub/cub.cuh>
using namespace cub;
typedef ::cub::WarpReduce<int> Reduce;
typedef WarpMergeSort<float, 4> Sort;
struct Less { template <typename T> __device__ bool operator()(T a, T b) const { return a < b; } };
__global__ void k(int* p) {
  __shared__ typename Reduce::TempStorage reduce;
  __shared__ typename Sort::TempStorage sort;
  float keys[4] = {4, 3, 2, 1};
  Sort(sort).Sort(keys, Less());
  int items[2];
  cub::LoadDirectWarpStriped(threadIdx.x, p, items, 100, 0);
  cub::StoreDirectWarpStriped(threadIdx.x, p, items);
  p[cub::LaneId()] = Reduce(reduce).Sum(items[0]) + CUB_WARP_THREADS(0) + cub::WarpId();
  p[1] = cub::WarpMask<8>(1) + cub::WARP_ANY(p[0], ~0u) + cub::LaneMaskGe() + keys[0];
}
"""

RANDOM = """
#include <curand_kernel.h>
__global__ void k(float* p, uint4* q, curandStateSobol32_t* sobol, curandStateMtgp32_t* mtgp,
                  curandDirectionVectors32_t* vectors) {
  curandState s;
  curand_init(7, threadIdx.x, 0, &s);
  curandStatePhilox4_32_10_t philox;
  curand_init(7ull, 1, 2, &philox);
  q[0] = curand4(&philox);
  auto four = curand_normal4(&philox);
  curand_init(vectors[0], 3, sobol);
  p[0] = curand_uniform(&s) + four.x + curand_uniform(sobol) + curand_normal(sobol) + curand(mtgp);
  p[1] = curand_uniform(mtgp) + curand_poisson(&s, 3.0) + curand_log_normal4(&philox, 0, 1).w;
  skipahead_sequence(2, &s);
}
"""

SURFACES = """
__global__ void k(cudaSurfaceObject_t s, float* p) {
  p[0] = surf2Dread<float>(s, 4, 0);
  float v;
  surf2Dread(&v, s, 4, 1, cudaBoundaryModeTrap);
  surf2Dwrite(v, s, 8, 1, cudaBoundaryModeZero);
}
"""

IMAGES = """
__global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t s, float* p, float4* q) {
  p[0] = tex1Dfetch<float>(t, 3) + tex1D<float>(t, 1) + tex3D<float>(t, 1, 2, 3);
  p[1] = tex1DLayered<float>(t, 1, 2) + tex2DLayered<float>(t, 1, 2, 3);
  p[3] = tex2DLod<float>(t, 1, 2, 0);
  tex2D(&p[2], t, 1, 2);
  *q = tex2Dgather<float4>(t, 1, 2, 3);
  surf3Dwrite(p[0], s, 4, 1, 1, cudaBoundaryModeClamp);
}
int f(cudaArray_t a, const cudaChannelFormatDesc* d, cudaResourceDesc* r, cudaTextureDesc* b) {
  cudaTextureObject_t t; cudaSurfaceObject_t s; float h[8];
  cudaMemcpy3DParms p = {}; p.dstArray = a;
  const cudaExtent extent = make_cudaExtent(1, 2, 3);
  return cudaMallocArray(&a, d, 8) | cudaMalloc3DArray(&a, d, extent, cudaArrayLayered)
    | cudaMemcpyToArray(a, 0, 0, h, 32, cudaMemcpyHostToDevice)
    | cudaMemcpy2DToArray(a, 0, 0, h, 8, 8, 1, cudaMemcpyHostToDevice)
    | cudaMemcpy2DFromArray(h, 8, a, 0, 0, 8, 1, cudaMemcpyDeviceToHost)
    | cudaMemcpy3D(&p) | cudaMemcpy3DAsync(&p) | cudaCreateTextureObject(&t, r, b, nullptr)
    | cudaCreateSurfaceObject(&s, r) | cudaDestroyTextureObject(t) | cudaDestroySurfaceObject(s)
    | cudaFreeArray(a);
}
"""

IMAGE_QUERIES = """
int f(cudaArray_t a, cudaChannelFormatDesc* d, cudaExtent* e, unsigned* n, cudaTextureObject_t t,
      cudaTextureDesc* x, cudaResourceDesc* r) {
  return cudaArrayGetInfo(d, e, n, a) | cudaGetTextureObjectTextureDesc(x, t)
    | cudaGetTextureObjectResourceDesc(r, t)
    | cudaMemcpy2DArrayToArray(a, 0, 0, a, 0, 0, 8, 1, cudaMemcpyDeviceToDevice);
}
"""

MACRO = """
#define SHUFFLE __shfl_down_sync
__global__ void k(float* p) { p[0] = SHUFFLE(0xffffffff, p[1], 1); }
"""

HALVES = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <cub/util_debug.cuh>
#include <cuda.h>
#include <cuda/barrier>
__global__ void k(half* h, half2* h2, __nv_bfloat16* b, __nv_fp8_e4m3* f, float4* q) {
  h2[0] = __hmax2(h2[1], __hmin2(h2[2], h2[3]));
  h[0] = htanh(h[1]);
  b[2] = __ushort_as_bfloat16(3);
  b[3] = __hfma(__int2bfloat16_rz(3), __double2bfloat16(0.5), b[4]);
  h[3] = __hne(h[1], h[2]) ? __ushort2half_ru(7) : __hmul_sat(h[1], h[2]);
  b[0] = __shfl_down_sync(0xffffffffu, b[1], 2);
  atomicAdd(h2, h2[0]);
  f[0] = __nv_fp8_e4m3(b[0]);
  __shared__ float4 s;
  __pipeline_memcpy_async(&s, q, 16);
}
__global__ void barriers(int* p) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(p, p + 4, 4, b);
  b.arrive_and_wait();
}
int launch(CUfunction f) {
  return cuFuncSetBlockShape(f, 8, 8, 1) + cuParamSeti(f, 0, 3) + cuLaunchGrid(f, 1, 1);
}
half sum(half a, half b) { return __hadd(a, b) + a * b; }
float root(half a) { return a == CUDART_ONE_FP16 ? __half_as_ushort(a) : rsqrtf(a); }
int prefetch(void* p) {
  cudaMemLocation place = {cudaMemLocationTypeHost, 0};
  cub::SwitchDevice another(cub::DeviceCount() - 1);
  int version = cub::CurrentDevice();
  cub::SmVersion(version);
  if (cub::MaxSmOccupancy(version, barriers, 32)) return version;
  CubDebugExit(CubDebug(cudaMemPrefetchAsync(p, 4, place, 0)));
  return cudaMemAdvise(p, 4, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0});
}
int wait_outside(cudaStream_t s, cudaEvent_t e) {
  return cudaEventRecordWithFlags(e, s, cudaEventRecordExternal)
    + cudaStreamWaitEvent(s, e, cudaEventWaitExternal);
}
bool is_on_device(const void* p) {
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, p);
  return attributes.memoryType == cudaMemoryTypeDevice;
}
namespace {
__device__ float of_both(const float *f, const half *h) {
  return __ldg(f) + __half2float(__ldg(h));
}
}
__global__ void load(float *to, const half *h) { *to = of_both(to, h) + __ldg(to); }
"""

FUNCTIONAL = """\
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda_runtime.h>
__global__ void k(int* p, short* q) {
  p[0] = cuda::maximum<>{}(p[0], q[0]) + cuda::minimum<int>{}(p[1], 4);
  p[1] = cuda::std::identity{}(p[2]);
  static_assert(::cuda::ceil_div(7, 2u) == 4u && cuda::round_up(8, 4) == 8, "");
  static_assert(cuda::ceil_div<long>(9, 3) == 3 && cuda::round_down(7, 4) == 4, "");
}
"""

ATTRIBUTE = """\
#include <cuda_runtime.h>
int width() {
  int value = 0;
  return cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0) == cudaSuccess ? value : 0;
}
"""

MATRIX = "using namespace nvcuda;"
"""Needs rocWMMA's headers, which not every machine has: test_runs_libraries.py compiles it."""

FRAGMENTS = """\
#include <cuda_runtime.h>
__global__ void product(const unsigned* a, const unsigned* b, float* d) {
  __shared__ unsigned own[128];
  own[threadIdx.x] = a[threadIdx.x];
  unsigned x[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
      : "r"((unsigned)__cvta_generic_to_shared(own)));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(b[0]), "r"(b[1]));
}
"""

VERSIONS = """\
#include <cuda_runtime.h>
size_t compiled_with() { return cublasGetCudartVersion(); }
"""

MIXED_PRODUCTS = """\
#include <cublas_v2.h>
#include <cuda_fp16.h>
cublasStatus_t e(cublasHandle_t h, const half* a, half* c, half alpha) {
  return cublasHgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 1, 2, 3, &alpha, a, 1, a, 2, &alpha, c, 1);
}
cublasStatus_t f(cublasHandle_t h, half* a, half* b, float* c, float alpha, float beta) {
  return cublasSgemmEx(h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 3, 4, &alpha, a, CUDA_R_16F, 2, b,
                       CUDA_R_16F, 3, &beta, c, CUDA_R_32F, 2);
}
// Compute types as before cuBLAS 11, which its headers still take in C++.
cublasStatus_t g(cublasHandle_t h, half* a, float* c, float alpha, cudaDataType_t type) {
  cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 3, 4, &alpha, a, CUDA_R_16F, 2, a, CUDA_R_16F, 3,
               &alpha, c, CUDA_R_32F, 2, CUDA_R_32F, CUBLAS_GEMM_DFALT_TENSOR_OP);
  cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 3, 4, &alpha, a, CUDA_R_16F, 2, a, CUDA_R_16F, 3,
               &alpha, c, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  return cublasGemmStridedBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 3, 4, &alpha, a, CUDA_R_16F, 2,
                                    8, a, CUDA_R_16F, 3, 12, &alpha, c, CUDA_R_32F, 2, 6, 5, type,
                                    CUBLAS_GEMM_DEFAULT);
}
"""

TILES = """\
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
struct Tile {
  cg::thread_block_tile<8> tile;
  static constexpr auto size() {
    return decltype(tile)::num_threads() + cg::thread_block_tile<4>::size();
  }
};
static_assert(Tile::size() == 12, "of 8 and of 4 threads");
template <class G, class T> __device__ T first(const G& group, T value) {
  return group.shfl(value, 0) == group.shfl_down(value, 0) ? value : group.shfl_up(value, 0);
}
template <class G, class T> __device__ T other(const G& group, T value) {
  return group.shfl_xor(value, 1);
}
__global__ void k(float (*p)[Tile::size()]) {
  __shared__ cg::block_tile_memory<128> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<16>(block);
  auto wide = cg::tiled_partition<128>(block);
  wide.sync();
  p[1][0] = wide.shfl(2.0f, 100) + wide.all(p[0][0] > 1) + wide.size();
  p[0][11] = tile.shfl(1.0f, 0) + *first(tile, other(tile, p[0]));
  p[0][12] = first(cg::coalesced_threads(), 2.0f);
}
"""

EVENTS = """\
#include <cuda_runtime.h>
#include <nvToolsExt.h>
void note(const char* name) {
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  nvtxRangePushEx(&event);
  nvtxRangePop();
}
"""

OCCUPANCY = """\
#include <cuda_runtime.h>
#include <cuda_occupancy.h>
int blocks(const cudaDeviceProp& device, const cudaFuncAttributes& function) {
  cudaOccDeviceProp properties(device);
  cudaOccFuncAttributes attributes(function);
  cudaOccDeviceState state;
  state.cacheConfig = (cudaOccCacheConfig)cudaFuncCachePreferNone;
  int grid = 0, block = 0;
  cudaOccError error = cudaOccMaxPotentialOccupancyBlockSize(
      &grid, &block, &properties, &attributes, &state, 0);
  cudaOccResult result;
  if (error == CUDA_OCC_SUCCESS)
    error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &properties, &attributes, &state, block, __occRoundUp(1000, 256));
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : 0;
}
"""

GRIDS = """\
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void number(unsigned long long* out) {
  auto grid = cg::this_grid();
  out[0] = grid.block_rank() + grid.num_blocks() + grid.num_threads();
  out[1] = grid.block_index().x + grid.dim_blocks().y + grid.group_dim().z;
}
"""

MANAGED = """\
#include <cuda_runtime.h>
__managed__ int table[4] = {1, 2};
__device__ __managed__ double total;
int copies(cudaStream_t stream) {
  int host = 3;
  double* address = nullptr;
  size_t size = 0;
  return cudaMemcpyToSymbol(table, &host, sizeof host, sizeof host) +
         cudaMemcpyToSymbolAsync(table, &host, 4, 0, cudaMemcpyHostToDevice, stream) +
         cudaMemcpyFromSymbol(&host, table, sizeof host) +
         cudaMemcpyFromSymbolAsync(&host, table, 4, 0, cudaMemcpyDeviceToHost, stream) +
         cudaGetSymbolAddress((void**)&address, total) + cudaGetSymbolSize(&size, total);
}
"""

LAUNCHES = """
#include <cublas_v2.h>
__global__ void k(float* out, double scale) {
  cudaGridDependencySynchronize();
  out[threadIdx.x] *= scale;
  cudaTriggerProgrammaticLaunchCompletion();
}
cudaError_t launch(float* out, cudaStream_t stream, cudaGraphExec_t exec, cudaGraph_t graph) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{dim3(1), dim3(32), 0, stream, &attribute, 1};
  cudaGraphExecUpdateResultInfo info;
  if (cudaGraphExecUpdate(exec, graph, &info) != cudaSuccess) return cudaErrorUnknown;
  return cudaLaunchKernelEx(&config, k, out, 2);
}
cublasStatus_t memory(cublasHandle_t handle, void* p) { return cublasSetWorkspace(handle, p, 256); }
"""

BINDINGS = """\
#include <torch/extension.h>
#include <Eigen/Core>
#include <cuda_runtime.h>
__device__ float sum(float2 v) {
  auto [x, y] = v;
  return x + y;
}
"""

MAPPED_MEMORY = """
__global__ void add(int *p) { ++*p; }
int main() {
  int *host, *device;
  cudaHostAlloc(&host, 4, cudaHostAllocMapped);
  cudaHostGetDevicePointer(&device, host, 0);
  add<<<1, 1>>>(device);
  cudaFree(device);
  cudaFreeHost(host);
}
"""

PINNED = """
#include <thrust/system/cuda/experimental/pinned_allocator.h>
thrust::cuda::experimental::pinned_allocator<int> pinned;
"""

NVTX_RANGES = """
#include <nvtx3/nvtx3.hpp>
#include <string>
struct mine { static constexpr char const* name{"mine"}; };
struct text { static constexpr char const* message{"registered"}; };
void by_macros() { NVTX3_FUNC_RANGE(); nvtx3::mark("here"); }
void in_domain() { NVTX3_FUNC_RANGE_IN(mine); nvtx3::mark_in<mine>(std::string("there")); }
void ranges() {
  nvtx3::scoped_range plain("plain");
  nvtx3::scoped_range colored{"colored", nvtx3::rgb{127, 255, 0}, nvtx3::payload{7}};
  nvtx3::event_attributes attributes{nvtx3::message{"built"}, nvtx3::category{3}};
  nvtx3::scoped_range_in<mine> built{attributes};
  nvtx3::scoped_range registered(nvtx3::registered_string_in<mine>::get<text>());
  nvtx3::unique_range unique(std::string("name"));
  nvtx3::unique_range moved = std::move(unique);
  nvtx3::end_range(nvtx3::start_range("handle"));
}
"""

HALF_PRODUCTS = """
#include <cublas_v2.h>
#include <cuda_fp16.h>
cublasStatus_t product(cublasHandle_t handle, const __half* a, half* c) {
  const __half one = __float2half(1.0f);
  return cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 4, 4, 4, &one, a, 4, a, 4, &one, c, 4);
}
"""

ABSENT = """
#include <cuda_runtime.h>
bool f(cudaStream_t s, cudaEvent_t e, cudaTextureDesc d, const cudaPointerAttributes& a, bool is) {
  cudaStreamAttrValue hint = {};
  d.seamlessCubemap = is;
  d.disableTrilinearOptimization = is;
  return cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &hint) == cudaSuccess &&
         cudaEventRecordWithFlags(e, s, is ? cudaEventRecordExternal : 0) == cudaSuccess &&
         cudaStreamWaitEvent(s, e, is ? cudaEventWaitExternal : 0) == cudaSuccess &&
         cudaCtxResetPersistingL2Cache() == cudaSuccess && a.memoryType == cudaMemoryTypeDevice;
}
"""
SOURCES = {
    "half products": HALF_PRODUCTS,
    "nvtx ranges": NVTX_RANGES,
    "pinned allocator": PINNED,
    "mapped memory": MAPPED_MEMORY,
    "attribute": ATTRIBUTE,
    "halves": HALVES,
    "intrinsics": INTRINSICS,
    "ptx": PTX,
    "groups": GROUPS,
    "surfaces": SURFACES,
    "images": IMAGES,
    "image queries": IMAGE_QUERIES,
    "macro": MACRO,
    "functional": FUNCTIONAL,
    "versions": VERSIONS,
    "mixed_products": MIXED_PRODUCTS,
    "fragments": FRAGMENTS,
    "tiles": TILES,
    "events": EVENTS,
    "occupancy": OCCUPANCY,
    "cub_warps": CUB_WARPS,
    "random": RANDOM,
    "grids": GRIDS,
    "managed": MANAGED,
    "launches": LAUNCHES,
    "absent": ABSENT,
    "constants of both sides": """
__constant__ const int sizes[2] = {1, 2};
__host__ __device__ int size_of(int i) { return sizes[i]; }
__global__ void k(int* p) { *p = size_of(threadIdx.x); }
""",
}


@pytest.mark.amd
@pytest.mark.parametrize("name", SOURCES)
def test_it_compiles(name: str, tmp_path: Path) -> None:
    result = RulesTranslator().translate(SOURCES[name], filename="a.cu")
    assert not result.errors
    (tmp_path / "a.cu").write_text(result.source)
    assert HipCompiler(find_amd(), tmp_path).messages("a.cu") == ""


def for_rdna(source: str) -> str:
    context = Context(wavefronts=(32,))
    return RulesTranslator().translate(source, filename="a.cu", context=context).source


@pytest.mark.amd
@pytest.mark.parametrize("name", ["surfaces", "images"])
def test_it_compiles_for_rdna_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(for_rdna(SOURCES[name]))
    assert HipCompiler(find_amd(), tmp_path).messages("a.cu") == ""


def test_every_snippet_is_compiled_by_some_source() -> None:
    # Bindings are compiled by test_runs_vector_bindings.py, with a header for PyTorch's.
    sources = (*SOURCES.values(), MATRIX, BINDINGS)
    code = "".join(RulesTranslator().translate(text).source for text in sources)
    code += for_rdna(SURFACES)
    for path in sorted(tables.SNIPPETS.glob("*.hpp")):
        guard = path.read_text().split("\n", 1)[0].removeprefix("#ifndef ")
        assert f"#define {guard}\n" in code, path.name


NO_BUILTINS_OF_AMD = f"""
#include <cooperative_groups.h>
#include "{FORCED_HEADER}"
#include <hip/hip_cooperative_groups.h>
#undef __lane_id
#undef __ballot64
"""
"""HIP on CUDA 13, without the wavefront functions that our runner adds."""

BFLOAT16 = """#include <cuda_bf16.h>
typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
"""
NOT_FOR_NVIDIA = {
    "launches",
    "absent",  # hipPointerAttribute_t of HIP 6
    "mixed_products",
    "ptx",
    "halves",
    "events",
    "occupancy",
    "image queries",
    "cub_warps",
    "random",
    "mapped memory",  # hipPointerAttribute_t of HIP 6
    "nvtx ranges",  # roctx is for AMD alone
}
NO_HEADER_FOR_NVIDIA = "#include <hip/hip_bf16.h>\n"
"""HIP has had it for Nvidia since 6.0; Debian's headers are older."""


@pytest.mark.nvidia
@pytest.mark.parametrize("name", sorted(SOURCES.keys() - NOT_FOR_NVIDIA))
def test_it_compiles_on_the_nvidia_platform_of_hip(name: str, tmp_path: Path) -> None:
    code = RulesTranslator().translate(SOURCES[name], filename="a.cu").source
    code = code.replace("__builtin_trap", "__trap").replace(NO_HEADER_FOR_NVIDIA, BFLOAT16)
    (tmp_path / "a.cu").write_text(code)
    (tmp_path / "first.h").write_text(NO_BUILTINS_OF_AMD)
    nvcc = find_nvidia()
    command = [str(nvcc.nvcc), *nvcc.flags("-O0"), "-arch=sm_80", "-ptx", "a.cu", "-o", "a.ptx"]
    command += [*DEFINITIONS, "-include", "first.h", "-isystem", str(hip_nvidia_include())]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
