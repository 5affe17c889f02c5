// Rows of 11 bytes in a pitched buffer, read by tex2D.
#include <cstdio>

__global__ void read(cudaTextureObject_t texture, int* result, int width) {
  result[threadIdx.y * width + threadIdx.x] =
      tex2D<unsigned char>(texture, threadIdx.x, threadIdx.y);
}

int main() {
  for (int width : {8, 11}) {
    const int height = width;
    unsigned char host[121], *buffer;
    for (int i = 0; i < width * height; i++) host[i] = i + 1;
    size_t pitch;
    cudaMallocPitch(reinterpret_cast<void**>(&buffer), &pitch, width, height);
    cudaMemcpy2D(buffer, pitch, host, width, width, height, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = buffer;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    printf("%d ", cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    int* result;
    cudaMallocManaged(&result, width * height * sizeof(int));
    read<<<1, dim3(width, height)>>>(texture, result, width);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < width * height; i++) wrong += result[i] != i + 1;
    printf("%d %d %d\n", wrong, result[width], result[width * height - 1]);
  }
}
