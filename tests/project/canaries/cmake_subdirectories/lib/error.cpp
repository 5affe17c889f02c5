#include "digits.hpp"
#ifdef ON_DEVICE
#error "this is for CUDA's files alone"
#endif
std::string device_error(cudaError_t error) {
  return error == cudaSuccess ? "right" : error == cudaErrorInvalidValue ? "a wrong value" : "?";
}
