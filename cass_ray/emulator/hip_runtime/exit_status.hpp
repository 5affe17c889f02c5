// A program whose kernel failed, or never ran, must not end as if all were well: if a kernel has
// failed, or checking mode has found something, or a launch was lost, and the program ends with
// status 0 all the same, it ends with status 1.
#pragma once

#include <string>

namespace cass::hip {

// `<<<>>>` found no code for its device, or none at all. Its error is returned to nobody: unless
// the program asks for the last error, nothing tells that the kernel's results are missing. `what`
// names the kernel, the file that holds it and the target.
void note_lost_launch(std::string what);

// The program was told so.
void lost_launch_was_heard();

}  // namespace cass::hip

// For libraries above HIP: a program that ends with status 0 ends with status 1 from now on,
// whatever it asks; they have said why.
extern "C" __attribute__((visibility("default"))) void __hipCassFailAtExit(const char* why);
