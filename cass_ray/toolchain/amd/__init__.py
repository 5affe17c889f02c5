"""HIP to host and RDNA assembly and back to executables, by clang and lld."""
