"""Proofs that lifted instructions compute what the hardware does, for all inputs.

``specification`` says what each instruction does and is held against an H200's results
(``silicon``); ``symbolic`` reads the lifter's LLVM IR; ``prove`` asks z3 whether the two can
differ.
"""
