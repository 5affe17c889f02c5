#include "remote_start.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "../device/protocol.hpp"
#include "errors.hpp"

namespace cass::hip {
namespace {

constexpr const char* program_name = "cass_device";
constexpr int door_number = 100;  // in the device process that is started here

// The door that the environment names, if it is one; -1 else.
int inherited_door() {
  const char* text = std::getenv(device::door_variable);
  int number = -1;
  if (text == nullptr ||
      std::from_chars(text, text + std::strlen(text), number).ec != std::errc{}) {
    return -1;
  }
  struct stat found{};
  return ::fstat(number, &found) == 0 && S_ISSOCK(found.st_mode) ? number : -1;
}

// The device process's program: beside this library.
std::string program_path() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&start_remote), &info) == 0) return program_name;
  // Past links: a CMake prefix has one to the library alone.
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(info.dli_fname, nullptr),
                                                        std::free);
  const std::string library = resolved != nullptr ? resolved.get() : info.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + program_name;
}

// The door to a new device process, whose processes are not this one's children.
device::File own_door() {
  auto ends = device::socket_pair();
  if (!ends) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends->theirs.number(), door_number);
  const std::string path = program_path();
  std::string name = program_name, option = "--door=" + std::to_string(door_number);
  char* const arguments[] = {name.data(), option.data(), nullptr};
  pid_t child = 0;
  const int problem = ::posix_spawn(&child, path.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (problem == 0) {
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (problem != 0 || status != 0) {
    report("the device process cannot be started: " + path + ": " +
           (problem != 0 ? std::strerror(problem) : "it ended at once"));
    return {};
  }
  return std::move(ends->ours);
}

}  // namespace

RemoteStart start_remote() {
  RemoteStart made;
  device::File own;
  int door = inherited_door();
  if (door < 0) {
    own = own_door();
    door = own.number();
    made.started_here = true;
  }
  auto ends = door < 0 ? std::nullopt : device::socket_pair();
  if (!ends) return made;
  const std::byte asking[1] = {};
  if (device::send_message(door, asking, {}, ends->theirs.number())) {
    made.connection = std::move(ends->ours);
  }
  // The door of a device process of our own closes here: it has one connection.
  return made;
}

}  // namespace cass::hip
