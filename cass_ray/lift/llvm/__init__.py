"""LLVM IR and what LLVM makes of it: builder, module, globals, RDNA3 assembly."""
