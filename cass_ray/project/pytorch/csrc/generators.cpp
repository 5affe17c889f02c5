// What libtorch_cuda has of random numbers: a seed and an offset into Philox's sequence for each
// device, which an extension's kernels take (philox_cuda_state). Graphs cannot be captured here.
#include "generators.hpp"

#include "refused.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace at {

namespace {

constexpr uint64_t kNumbersAtATime = 4;  // Philox 4x32 makes four of them
constexpr size_t kStateBytes = sizeof(uint64_t) + sizeof(int64_t);

DeviceIndex device_or_current(DeviceIndex device) {
  return device < 0 ? c10::cuda::current_device() : device;
}

}  // namespace

void CUDAGeneratorState::increase(uint64_t increment) {
  const uint64_t blocks = (increment + kNumbersAtATime - 1) / kNumbersAtATime;
  philox_offset_per_thread_ += blocks * kNumbersAtATime;
}

c10::intrusive_ptr<CUDAGeneratorState> CUDAGeneratorState::clone() {
  return c10::make_intrusive<CUDAGeneratorState>(seed_, philox_offset_per_thread_);
}

CUDAGeneratorImpl::CUDAGeneratorImpl(DeviceIndex device)
    : CUDAGeneratorImpl(device, c10::make_intrusive<CUDAGeneratorState>()) {}

CUDAGeneratorImpl::CUDAGeneratorImpl(DeviceIndex device,
                                     c10::intrusive_ptr<CUDAGeneratorState> state)
    : c10::GeneratorImpl(Device(DeviceType::CUDA, device), DispatchKeySet(c10::DispatchKey::CUDA)),
      state_(std::move(state)) {
  no_reset_rnn_state_.clear();
}

c10::DeviceType CUDAGeneratorImpl::device_type() { return DeviceType::CUDA; }

void CUDAGeneratorImpl::set_current_seed(uint64_t seed) {
  state_->seed_ = seed;
  state_->philox_offset_per_thread_ = 0;
  no_reset_rnn_state_.clear();
}

uint64_t CUDAGeneratorImpl::current_seed() const { return state_->seed_; }

uint64_t CUDAGeneratorImpl::seed() {
  const uint64_t random = c10::detail::getNonDeterministicRandom();
  set_current_seed(random);
  return random;
}

void CUDAGeneratorImpl::set_offset(uint64_t offset) { set_philox_offset_per_thread(offset); }

uint64_t CUDAGeneratorImpl::get_offset() const { return philox_offset_per_thread(); }

void CUDAGeneratorImpl::set_philox_offset_per_thread(uint64_t offset) {
  TORCH_CHECK(offset % kNumbersAtATime == 0, "offset must be a multiple of 4");
  state_->philox_offset_per_thread_ = offset;
}

uint64_t CUDAGeneratorImpl::philox_offset_per_thread() const {
  return state_->philox_offset_per_thread_;
}

std::pair<uint64_t, uint64_t> CUDAGeneratorImpl::philox_engine_inputs(uint64_t increment) {
  const uint64_t offset = state_->philox_offset_per_thread_;
  state_->increase(increment);
  return {state_->seed_, offset};
}

PhiloxCudaState CUDAGeneratorImpl::philox_cuda_state(uint64_t increment) {
  const auto [seed, offset] = philox_engine_inputs(increment);
  return PhiloxCudaState(seed, offset);
}

// The layout of PyTorch's own states of devices: the seed, then the offset.
c10::intrusive_ptr<c10::TensorImpl> CUDAGeneratorImpl::get_state() const {
  const TensorBase made = at::detail::empty_cpu({static_cast<int64_t>(kStateBytes)}, kByte);
  auto* const bytes = made.mutable_data_ptr<uint8_t>();
  std::memcpy(bytes, &state_->seed_, sizeof state_->seed_);
  std::memcpy(bytes + sizeof state_->seed_, &state_->philox_offset_per_thread_, sizeof(int64_t));
  return made.getIntrusivePtr();
}

void CUDAGeneratorImpl::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  const auto size = static_cast<size_t>(state.numel());
  TORCH_CHECK(size == kStateBytes || size == sizeof(uint64_t), "RNG state is wrong size");
  const auto* const bytes = static_cast<const uint8_t*>(state.data());
  uint64_t seed = 0;
  uint64_t offset = 0;
  std::memcpy(&seed, bytes, sizeof seed);
  if (size == kStateBytes) std::memcpy(&offset, bytes + sizeof seed, sizeof offset);
  set_current_seed(seed);
  set_philox_offset_per_thread(offset);
}

void CUDAGeneratorImpl::graphsafe_set_state(const c10::intrusive_ptr<GeneratorImpl>& state) {
  const auto* const other = dynamic_cast<const CUDAGeneratorImpl*>(state.get());
  TORCH_CHECK(other != nullptr, "a state of a device's generator is wanted");
  state_ = other->state_;
}

c10::intrusive_ptr<c10::GeneratorImpl> CUDAGeneratorImpl::graphsafe_get_state() const {
  return c10::make_intrusive<CUDAGeneratorImpl>(device().index(), state_);
}

void CUDAGeneratorImpl::register_graph(cuda::CUDAGraph*) { cass::refuse("a CUDA graph"); }

std::shared_ptr<CUDAGeneratorImpl> CUDAGeneratorImpl::clone() const {
  return std::shared_ptr<CUDAGeneratorImpl>(clone_impl());
}

CUDAGeneratorImpl* CUDAGeneratorImpl::clone_impl() const {
  return new CUDAGeneratorImpl(device().index(), state_->clone());
}

namespace cuda::detail {

const Generator& getDefaultCUDAGenerator(DeviceIndex device) {
  static std::mutex mutex;
  static std::map<DeviceIndex, Generator> made;
  const std::lock_guard<std::mutex> lock(mutex);
  device = device_or_current(device);
  const auto found = made.find(device);
  if (found != made.end()) return found->second;
  return made.emplace(device, make_generator<CUDAGeneratorImpl>(device)).first->second;
}

Generator createCUDAGenerator(DeviceIndex device) {
  return make_generator<CUDAGeneratorImpl>(device_or_current(device));
}

}  // namespace cuda::detail

}  // namespace at

namespace cass {

namespace {

// SplitMix64's finalizer (Steele, Lea, Flood 2014): neighboring offsets give unrelated seeds.
uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

}  // namespace

at::Generator for_the_cpu(const at::Generator& given) {
  auto* const generator = at::check_generator<at::CUDAGeneratorImpl>(given);
  const std::lock_guard<std::mutex> lock(generator->mutex_);
  const auto [seed, offset] = generator->philox_engine_inputs(at::kNumbersAtATime);
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15ULL;
  return at::detail::createCPUGenerator(mixed(seed + (offset + 1) * kGoldenRatio));
}

at::Generator generator_for_python(c10::DeviceIndex device) {
  static std::mutex mutex;
  static std::set<c10::DeviceIndex> known;
  device = at::device_or_current(device);
  const std::lock_guard<std::mutex> lock(mutex);
  return known.insert(device).second ? at::cuda::detail::getDefaultCUDAGenerator(device)
                                     : at::cuda::detail::createCUDAGenerator(device);
}

}  // namespace cass
