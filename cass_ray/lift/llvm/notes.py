"""Metadata: what LLVM may take for granted of loads, calls and loops."""

from __future__ import annotations

INVARIANT = ", !invariant.load !0"
"""Metadata of a load of what does not change while the kernel runs."""
UNROLLED = ", !llvm.loop !3"
"""Metadata of the back edge of a loop that LLVM is to unroll."""
BELOW_MOST_THREADS = ", !range !5"
"""The number of a thread along an axis: a workgroup has 1,024 threads at most."""
UP_TO_MOST_THREADS = ", !range !6"
"""The threads of a workgroup along an axis, in 16 bits."""
BELOW_WARP = ", !range !7"
"""The number of a lane of 32."""
UP_TO_WARP = ", !range !8"
"""How many of 32 lanes something holds for."""

DEFINITIONS = """!0 = !{}
!3 = distinct !{!3, !4}
!4 = !{!"llvm.loop.unroll.enable"}
!5 = !{i32 0, i32 1024}
!6 = !{i16 1, i16 1025}
!7 = !{i32 0, i32 32}
!8 = !{i32 0, i32 33}
"""
"""What a module has at its end, so that these notes mean something; 1 and 2 are its own."""
