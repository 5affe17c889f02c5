/* The same program as programs/general_compute/tiled_transpose.cu in another layout. */
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_OK(expr)																\
	do {																			 \
		if (cudaError_t code = (expr); code != cudaSuccess) {						\
			fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(code));	\
			std::exit(2);															\
		}																			\
	} while (false)

constexpr int TILE = 32;
constexpr int ROWS = 8;

// turns rows into columns
__global__ void transpose(const int* src, size_t srcPitch, int* dst, size_t dstPitch, int width, int height)
{
	__shared__ int tile[TILE][TILE + 1];

	int x = blockIdx.x * TILE + threadIdx.x;
	int y = blockIdx.y * TILE + threadIdx.y;
	for (int r = 0; r < TILE; r += ROWS)
		if (x < width && y + r < height)
			tile[threadIdx.y + r][threadIdx.x] =
				*(const int*)((const char*)src + (size_t)(y + r) * srcPitch + (size_t)x * sizeof(int));

	__syncthreads();
	x = blockIdx.y * TILE + threadIdx.x;
	y = blockIdx.x * TILE + threadIdx.y;
	for (int r = 0; r < TILE; r += ROWS)
		if (x < height && y + r < width)
			*(int*)((char*)dst + (size_t)(y + r) * dstPitch + (size_t)x * sizeof(int)) =
				tile[threadIdx.x][threadIdx.y + r];
}

int main(int argc, char** argv)
{
	const int width = argc > 1 ? std::atoi(argv[1]) : 205;
	const int height = argc > 2 ? std::atoi(argv[2]) : 131;

	unsigned seed = argc > 3 ? (unsigned)std::atoi(argv[3]) : 3u;
	if (width <= 0 || height <= 0)
		return 2;

	std::vector<int> a((size_t)width * height), b((size_t)width * height);
	for (int& v : a) {
		seed = seed * 69069u + 1u;
		v = (int)(seed >> 12);
	}

	int *src, *dst;
	size_t srcPitch, dstPitch;
	CUDA_OK(cudaMallocPitch((void**)&src, &srcPitch, width * sizeof(int), height));

	CUDA_OK(cudaMallocPitch((void**)&dst, &dstPitch, height * sizeof(int), width));
	CUDA_OK(cudaMemset2D(dst, dstPitch, 0xff, height * sizeof(int), width));
	CUDA_OK(cudaMemcpy2D(src, srcPitch, a.data(), width * sizeof(int), width * sizeof(int), height,
						 cudaMemcpyHostToDevice));
	const dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
	transpose<<<grid, dim3(TILE, ROWS)>>>(src, srcPitch, dst, dstPitch, width, height);

	CUDA_OK(cudaGetLastError());
	CUDA_OK(cudaMemcpy2D(b.data(), height * sizeof(int), dst, dstPitch, height * sizeof(int), width,
						 cudaMemcpyDeviceToHost));

	long long wrong = 0;
	unsigned hash = 2166136261u;

	for (int x = 0; x < width; ++x)
		for (int y = 0; y < height; ++y) {
			const int got = b[(size_t)x * height + y];
			wrong += got != a[(size_t)y * width + x];
			hash = (hash ^ (unsigned)got) * 16777619u;
		}
	printf("%d x %d transposed, hash %08x\n", width, height, hash);
	printf("corners %d %d %d %d\n", b[0], b[height - 1], b[(size_t)(width - 1) * height], b[(size_t)width * height - 1]);
	printf("verify: %s\n", wrong ? "MISMATCH" : "OK");
	CUDA_OK(cudaFree(src));
	CUDA_OK(cudaFree(dst));
	return wrong ? 1 : 0;
}
