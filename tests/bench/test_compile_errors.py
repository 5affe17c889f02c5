"""Classes of compile errors, on messages that the tools themselves printed."""

from __future__ import annotations

import pytest

from cass_ray.bench.compile_errors import (
    ErrorClass,
    classify,
    classify_message,
    error_messages,
)
from cass_ray.dataset.row import Reason

# LLVM 19's assembler for gfx1100.
RDNA3 = """\
device.s:7:2: error: invalid instruction
        v_foo_b32 v0, v1
        ^
device.s:8:24: error: invalid operand for instruction
        v_add_f32 v0, v1, v2, v3
                              ^
device.s:10:12: error: register index is out of range
        v_mov_b32 v300, 0
                  ^
device.s:13:26: error: invalid register alignment
        global_load_b32 v0, v1, s[3:4]
                                ^
device.s:14:18: error: too large value for vmcnt
        s_waitcnt vmcnt(99999)
                        ^
device.s:16:2: error: unknown directive
        .foo 3
        ^
device.s:24:22: error: unknown token in expression
        v_add_u32 v0, v1, v2)
                            ^
device.s:28:24: error: invalid operand (violates constant bus restrictions)
        v_fma_f32 v0, s0, s1, s2
                              ^
device.s:30:1: error: symbol 'k' is already defined
k:
^
device.s:33:3: error: unknown .amdhsa_kernel directive
                .amdhsa_bogus 1
                ^~~~~~~~~~~~~
"""

# GNU as 2.40.
GNU = """\
host.s: Assembler messages:
host.s:3: Error: invalid instruction suffix for `movq'
host.s:4: Error: bad register name `%rxx'
host.s:6: Error: number of operands mismatch for `mov'
host.s:7: Error: unknown pseudo-op: `.bogus'
host.s:9: Error: symbol `foo' is already defined
"""

# clang 19 on HIP, nvcc 13 (EDG), and lld 19.
CLANG = """\
main.cu:2:10: fatal error: 'cuda_runtime.h' file not found
    2 | #include <cuda_runtime.h>
main.cu:31:3: error: use of undeclared identifier 'cudaMalloc'
main.cu:40:12: error: unknown type name 'cudaStream_t'
main.cu:52:5: error: no matching function for call to '__shfl_sync'
main.cu:60:9: error: cannot initialize a variable of type 'int *' with an rvalue of type 'float *'
main.cu:71:8: error: expected ';' after expression
main.cu:90:16: error: invalid operands to binary expression ('float4' and 'float')
main.cu:99:7: error: invalid output constraint '=h' in asm
"""
EDG = """\
main.hip(39): error: identifier "hipDeviceProp" is undefined
main.hip(41): error #20: no instance of overloaded function "hipMemcpy" matches the argument list
"""
LINKER = "ld.lld-19: error: undefined symbol: _Z6squarePfS_i\n>>> referenced by host.o"


def test_rdna3_assembler() -> None:
    assert classify(RDNA3) == [
        ErrorClass.INSTRUCTION,
        ErrorClass.OPERAND,
        ErrorClass.REGISTER,
        ErrorClass.REGISTER,
        ErrorClass.OPERAND,
        ErrorClass.DIRECTIVE,
        ErrorClass.SYNTAX,
        ErrorClass.OPERAND,
        ErrorClass.SYMBOL,
        ErrorClass.METADATA,
    ]


def test_gnu_assembler() -> None:
    assert classify(GNU) == [
        ErrorClass.INSTRUCTION,
        ErrorClass.REGISTER,
        ErrorClass.OPERAND,
        ErrorClass.DIRECTIVE,
        ErrorClass.SYMBOL,
    ]


def test_clang_on_source() -> None:
    assert classify(CLANG) == [
        ErrorClass.HEADER,
        ErrorClass.UNDECLARED,
        ErrorClass.UNKNOWN_TYPE,
        ErrorClass.ARGUMENTS,
        ErrorClass.TYPES,
        ErrorClass.SYNTAX,
        ErrorClass.TYPES,
        ErrorClass.INLINE_ASSEMBLY,
    ]


def test_edg_and_linker() -> None:
    assert classify(EDG) == [ErrorClass.UNDECLARED, ErrorClass.ARGUMENTS]
    assert classify(LINKER) == [ErrorClass.SYMBOL]


def test_ptxas() -> None:
    text = "ptxas device.ptx, line 31; error   : Unknown symbol 'foo'"
    assert error_messages(text) == ["Unknown symbol 'foo'"]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (Reason.TIME_LIMIT, ErrorClass.LIMIT),
        (Reason.NO_DEVICE_CODE, ErrorClass.NO_DEVICE_CODE),
        (Reason.FORBIDDEN_INCLUDE, ErrorClass.REFUSED),
        (Reason.COMPILER_CRASHED, ErrorClass.CRASH),
        (Reason.COMPILER_KILLED, ErrorClass.LIMIT),
    ],
)
def test_the_reason_may_be_all_there_is(reason: Reason, expected: ErrorClass) -> None:
    assert classify("ended by signal 9, without a message", reason) == [expected]


def test_warnings_and_notes_are_no_errors() -> None:
    text = "a.cu:1:2: warning: unused variable 'error'\na.cu:2:2: note: candidate: error: none\n"
    assert error_messages(text) == []


def test_what_nobody_knows() -> None:
    assert classify_message("the moon is in the wrong house") is ErrorClass.OTHER
