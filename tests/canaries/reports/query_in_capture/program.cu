// CUDA refuses cudaStreamQuery of a stream that captures, and the capture is lost.
#include <cstdio>

__global__ void nothing() {}

int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph = nullptr;
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(stream, &status);
  printf("%d ", status == cudaStreamCaptureStatusNone);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  nothing<<<1, 1, 0, stream>>>();
  cudaStreamIsCapturing(stream, &status);
  printf("%d ", status == cudaStreamCaptureStatusActive);
  printf("%d ", cudaStreamQuery(stream));
  cudaStreamIsCapturing(stream, &status);
  printf("%d ", status == cudaStreamCaptureStatusInvalidated);
  printf("%d ", cudaStreamEndCapture(stream, &graph));
  printf("%d\n", graph == nullptr);
  cudaGetLastError();
  cudaStreamIsCapturing(stream, &status);
  printf("%d %d\n", status == cudaStreamCaptureStatusNone, cudaStreamQuery(stream));
}
