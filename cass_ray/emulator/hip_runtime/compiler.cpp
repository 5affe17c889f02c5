#include "compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "device.hpp"

extern char** environ;

namespace cass::hip {
namespace {

namespace fs = std::filesystem;

// A folder of this process alone, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    auto pattern = (fs::temp_directory_path(error) / "cass-hiprtc-XXXXXX").string();
    if (!error && ::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool has_hip(const fs::path& root) {
  std::error_code error;
  return fs::exists(root / "include/hip/hip_runtime.h", error);
}

// CACHE/rdna3/KEY/libamdhip64.so is this library; CACHE/hip-root/* are the roots made there.
std::optional<fs::path> root_in_cache() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&compile), &self) == 0) return std::nullopt;
  std::error_code error;
  const auto library = fs::canonical(self.dli_fname, error);
  if (error) return std::nullopt;
  const auto roots = library.parent_path().parent_path().parent_path() / "hip-root";
  std::optional<fs::path> newest;
  for (const auto& entry : fs::directory_iterator(roots, error)) {
    if (!has_hip(entry.path())) continue;
    if (!newest || fs::last_write_time(entry.path()) > fs::last_write_time(*newest)) {
      newest = entry.path();
    }
  }
  return newest;
}

std::optional<fs::path> hip_root() {
  if (const char* given = std::getenv("CASS_HIP_ROOT"); given != nullptr && has_hip(given)) {
    return given;
  }
  if (auto cached = root_in_cache()) return cached;
  if (has_hip("/opt/rocm")) return "/opt/rocm";
  return std::nullopt;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Writes under `folder`; false for a name that leads out of it.
bool write_text(const fs::path& folder, const SourceText& source) {
  const auto relative = fs::path(source.name).lexically_normal();
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") return false;
  const auto path = folder / relative;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << source.text;
  return static_cast<bool>(file);
}

// Runs the first of `programs` that exists; its exit status, or -1. Messages go to `log`.
int run(const std::vector<std::string>& programs, const std::vector<std::string>& arguments,
        const fs::path& log) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  int status = -1;
  for (const auto& program : programs) {
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_t child = 0;
    if (::posix_spawnp(&child, program.c_str(), &actions, nullptr, argv.data(), environ) != 0) {
      continue;
    }
    int wait_status = 0;
    if (::waitpid(child, &wait_status, 0) == child && WIFEXITED(wait_status)) {
      status = WEXITSTATUS(wait_status);
    }
    break;
  }
  ::posix_spawn_file_actions_destroy(&actions);
  return status;
}

std::vector<std::string> compilers() {
  if (const char* given = std::getenv("CASS_CLANG"); given != nullptr && *given != '\0') {
    return {given};
  }
  return {"clang++-19", "clang++"};
}

constexpr std::string_view architecture_options[] = {
    "--gpu-architecture=", "-arch=", "--offload-arch="};

// The device that the options name, by its processor; else the current one.
std::string processor_for(const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    for (const auto prefix : architecture_options) {
      if (!option.starts_with(prefix)) continue;
      const std::string name = option.substr(prefix.size());
      for (const DeviceKind* kind : device_kinds()) {
        if (name.substr(0, name.find(':')) == kind->processor) return std::string(kind->processor);
      }
    }
  }
  return std::string(Device::current().kind.processor);
}

// Options that HIPRTC knows and clang calls otherwise.
std::optional<std::string> clang_option(const std::string& option) {
  for (const auto prefix : architecture_options) {
    if (option.starts_with(prefix)) return std::nullopt;  // see processor_for
  }
  if (option == "-dopt" || option == "--device-debug" || option == "-G") return "-g";
  return option;
}

}  // namespace

CompilerOutput compile(const SourceText& source, const std::vector<SourceText>& headers,
                       const std::vector<std::string>& options) {
  CompilerOutput output;
  const TemporaryFolder folder;
  const auto root = hip_root();
  if (folder.path().empty() || !root) {
    output.log = folder.path().empty() ? "no temporary folder can be made"
                                       : "HIP's headers are not found: set CASS_HIP_ROOT";
    return output;
  }
  const auto main_name = source.name.empty() ? "program.hip" : fs::path(source.name).filename();
  bool written = write_text(folder.path(), {main_name.string(), source.text});
  for (const auto& header : headers) written = written && write_text(folder.path(), header);
  if (!written) {
    output.log = "a source or header cannot be written";
    return output;
  }
  const auto code = folder.path() / "program.co";
  const auto log = folder.path() / "compiler.log";
  std::vector<std::string> arguments{
      "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output",
      "--offload-arch=" + processor_for(options), "-mcode-object-version=5",
      "--rocm-path=" + root->string(), "-D__HIP_PLATFORM_AMD__=1", "-include", "hip/hip_runtime.h",
      "-O3",
                                     // Of the build: cass_ray/toolchain/amd/workarounds.py.
      CASS_CODE_OPTIONS, "-I" + folder.path().string(), "-fdiagnostics-color=never"};
  for (const auto& option : options) {
    if (auto translated = clang_option(option)) arguments.push_back(std::move(*translated));
  }
  arguments.insert(arguments.end(),
                   {"-c", (folder.path() / main_name).string(), "-o", code.string()});
  const int status = run(compilers(), arguments, log);
  output.log = read_text(log);
  if (status == -1) output.log += "clang++ could not be run: set CASS_CLANG\n";
  if (status != 0) return output;
  const auto text = read_text(code);
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  output.code.assign(bytes, bytes + text.size());
  output.ok = !output.code.empty();
  return output;
}

}  // namespace cass::hip
