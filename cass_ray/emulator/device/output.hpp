// What kernels print, on its way to the program.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cass::device {

// Collected and sent on the channel of a launch in progress, whose program waits for its end: when
// much has gathered, and before the launch is answered. Thread-safe.
class Output {
 public:
  static Output& instance();

  // Every letter and digit is replaced by another one: Perturbation::changes_text().
  bool perturbed = false;

  void add(bool to_stderr, std::string_view text);

  // While a launch of this channel runs.
  void enter(int socket);
  // Sends what there is; nothing is sent on this channel from now on.
  void leave(int socket);

 private:
  struct Piece {
    bool to_stderr;
    std::string text;
  };
  void send_all(int socket);

  std::mutex guard_;
  std::vector<int> sockets_;
  std::vector<Piece> pieces_;
  std::size_t gathered_ = 0;
};

}  // namespace cass::device
