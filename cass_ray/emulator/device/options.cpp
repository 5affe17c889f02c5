#include "options.hpp"

#include <fcntl.h>

#include <charconv>
#include <string_view>

#include "../engine/environment.hpp"

namespace cass::device {
namespace {

template <class T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool apply(std::string_view name, std::string_view value, Options& options) {
  if (name == "check") return options.engine.check = true;
  if (name == "skip-kernels") return options.skip_kernels = true;
  if (name == "interleave") return options.engine.interleave = true;
  if (name == "fragments") return options.fragments = true;
  if (name == "late-streams") return options.late_streams = true;
  if (name == "perturb") {
    const auto request = Perturbation::parse(value);
    if (request) options.perturbation = *request;
    return request.has_value();
  }
  if (name == "threads") return read_number(value, options.engine.threads);
  if (name == "kernel-seconds") return read_number(value, options.engine.time_limit_seconds);
  if (name == "shared-bytes") return read_number(value, options.shared_bytes);
  if (name == "cpu-seconds") return read_number(value, options.cpu_seconds);
  if (name == "launches") return read_number(value, options.launches);
  if (name == "count") return options.engine.count = true;
  if (name == "counters") return read_number(value, options.counters);
  if (name == "transcript") return read_number(value, options.transcript);
  if (name == "door") return read_number(value, options.door);
  return false;
}

std::string_view variable(const char* name) {
  const char* text = emulator_variable(name);
  return text == nullptr ? "" : text;
}

// Of a user who runs an executable by hand.
void read_environment(Options& options) {
  options.engine.check |= variable("CHECK").starts_with('1');
  static_cast<void>(read_number(variable("THREADS"), options.engine.threads));
  static_cast<void>(read_number(variable("TIME_LIMIT"), options.engine.time_limit_seconds));
  if (const auto path = variable("COUNTERS"); !path.empty()) {
    options.counters = ::open(path.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    options.engine.count = options.counters >= 0;
  }
}

}  // namespace

std::optional<Options> read_options(int count, char** arguments, std::string& problem) {
  Options options;
  for (int k = 1; k < count; ++k) {
    const std::string_view argument = arguments[k];
    if (argument == "--") {
      options.program = std::span(arguments + k + 1, static_cast<std::size_t>(count - k - 1));
      break;
    }
    const auto equals = argument.find('=');
    const auto name = argument.substr(2, equals == argument.npos ? equals : equals - 2);
    const auto value = equals == argument.npos ? "" : argument.substr(equals + 1);
    if (!argument.starts_with("--") || !apply(name, value, options)) {
      problem = "not an option: " + std::string(argument);
      return std::nullopt;
    }
  }
  if (options.program.empty() == (options.door < 0)) {
    problem = "give either --door=NUMBER or -- and a program";
    return std::nullopt;
  }
  if (options.door >= 0) read_environment(options);
  return options;
}

}  // namespace cass::device
