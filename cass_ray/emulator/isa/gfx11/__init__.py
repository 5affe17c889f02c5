"""RDNA3: its opcode table, derived from what LLVM's disassembler knows."""
