"""``libamdhip64`` for the emulator, in C++: what HIP programs link against."""
