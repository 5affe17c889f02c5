#include "settings.hpp"

#include "engine.hpp"

namespace cass::amdgpu {
namespace {

Settings current;

}  // namespace

const Settings& settings() { return current; }
void configure(const Settings& wanted) { current = wanted; }
bool checking() { return current.check; }

}  // namespace cass::amdgpu
