"""SASS to LLVM IR: control flow, the state of a thread, and what each opcode form does."""
