// What one stream writes and another one reads: with an event between them, without one, and by the
// functions that wait for all of a stream. 7 is what a card gives that is in no hurry.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void set(int* value, int to) { *value = to; }
__global__ void copy(const int* from, int* to) { *to = *from; }

int *first, *second, *host;
hipStream_t writer, reader;

void clear() {
  hipMemset(first, 0, sizeof(int));
  hipMemset(second, 0, sizeof(int));
  *host = 0;
  hipDeviceSynchronize();
}

int main() {
  hipMalloc(&first, sizeof(int));
  hipMalloc(&second, sizeof(int));
  hipHostMalloc(&host, sizeof(int));
  hipStreamCreateWithFlags(&writer, hipStreamNonBlocking);
  hipStreamCreateWithFlags(&reader, hipStreamNonBlocking);
  hipEvent_t written;
  hipEventCreate(&written);
  for (const bool waits : {true, false}) {
    clear();
    set<<<1, 1, 0, writer>>>(first, 7);
    hipEventRecord(written, writer);
    if (waits) hipStreamWaitEvent(reader, written, 0);
    copy<<<1, 1, 0, reader>>>(first, second);
    hipMemcpyAsync(host, second, sizeof(int), hipMemcpyDeviceToHost, reader);
    hipStreamSynchronize(reader);
    std::printf("%s %d\n", waits ? "event" : "no event", *host);
  }

  hipStream_t blocking;  // waits for the null stream, and the null stream for it
  hipStreamCreate(&blocking);
  clear();
  set<<<1, 1>>>(first, 7);
  copy<<<1, 1, 0, blocking>>>(first, second);
  hipMemcpy(host, second, sizeof(int), hipMemcpyDeviceToHost);
  std::printf("null stream %d\n", *host);

  clear();
  set<<<1, 1, 0, writer>>>(first, 7);
  hipMemcpyAsync(host, first, sizeof(int), hipMemcpyDeviceToHost, writer);
  while (hipStreamQuery(writer) == hipErrorNotReady) {
  }
  std::printf("queried %d\n", *host);

  clear();  // all streams are waited for, in no order
  set<<<1, 1, 0, writer>>>(first, 7);
  copy<<<1, 1, 0, reader>>>(first, second);
  hipDeviceSynchronize();
  int values[2];
  hipMemcpy(&values[0], second, sizeof(int), hipMemcpyDeviceToHost);
  hipMemcpy(&values[1], first, sizeof(int), hipMemcpyDeviceToHost);
  std::printf("synchronized %d %d\n", values[0], values[1]);

  clear();  // no function of the runtime waits for it
  set<<<1, 1, 0, writer>>>(host, 1);
  while (*static_cast<volatile int*>(host) == 0) {
  }
  std::printf("flag %d\n", *host);

  clear();
  set<<<1, 1, 0, writer>>>(first, 7);
  hipStreamDestroy(writer);
  hipMemcpy(host, first, sizeof(int), hipMemcpyDeviceToHost);
  std::printf("destroyed %d\n", *host);
}
