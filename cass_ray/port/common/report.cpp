#include "report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace cass::cuda {
namespace {

// To a file beside standard error, which the program's own caller may read or throw away.
void note(const std::string& line) {
  const char* path = std::getenv("CASS_PORT_NOTES");
  if (path == nullptr) return;
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
  ::close(file);
}

}  // namespace

void report_once(std::string_view message) {
  static std::mutex guard;
  static auto& said = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(guard);
  if (!said.emplace(message).second) return;
  const std::string text = std::string(message) + '\n';
  note(text);
  const std::string line = "cass CUDA runtime: " + text;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace cass::cuda
