"""Digests of what ptxas writes divisions, reciprocals and square roots as (:mod:`.slow_paths`).

nvcc 13.0 gives the same for each of sm_75 to sm_120; the programs that they are of are
``tests/lift/programs/whole_operations.cu``. Another release may write them otherwise: then the
steps are lifted as they stand.
"""

from __future__ import annotations

OPERATIONS = {
    "99b866163ab1a703baa7d06853a77ac1": "division.f32",
    "d4d74ee0801bc295b58ec74b295ced3a": "division.f64",
    "0032b2e1c203e23e063cd185bd135b85": "reciprocal.f32",
    "8d71feff55459a9de3e80e488db39ad2": "reciprocal.f64",
    "6ff558c9a36dcff388a1e4f52fbbb88c": "root.f32",
    "4b4ca2130d39b4bf3b02eb9b999f1347": "root.f64",
}
"""What each is, rounded to nearest, denormal numbers as they are."""
