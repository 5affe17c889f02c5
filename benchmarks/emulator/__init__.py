"""The CPU emulator beside plain C++ and other emulators, and on public programs."""
