// What each thread has of its own, usable to the end of the program.
#pragma once

#include <memory>
#include <utility>

namespace cass::hip {

// The calling thread's own object, as `make` makes it at first. Objects of a program's own that are
// destroyed at its end call the runtime when what the main thread had of its own is gone: from then
// on there is another one, which stays.
template <class Make>
auto& thread_own(Make make) {
  using Own = decltype(make());
  thread_local bool gone = false;  // of no destructor, so that it can be read to the end
  thread_local Own* late = nullptr;
  struct Holder {
    Own own;
    ~Holder() { gone = true; }
  };
  if (gone) {
    if (late == nullptr) late = std::make_unique<Own>(make()).release();
    return *late;
  }
  thread_local Holder holder{make()};
  return holder.own;
}

}  // namespace cass::hip
