"""Digests of what ptxas writes divisions, reciprocals and square roots as (:mod:`.ieee_idioms`).

nvcc 13.0 gives the same for each of sm_75 to sm_120; the programs that they are of are
``tests/lift/programs/whole_operations.cu``. Another release may write them otherwise: then the
steps are lifted as they stand.
"""

from __future__ import annotations

OPERATIONS = {
    "9851116d8bc1fd47b19b9502b3cca065": ("division.f32", "426bf01bce4c6473cf9bff9f94b49e7c"),
    "bb5aa4ccf6b43ab408007eff74d1e34c": ("division.f64", "60cc86bb03d2a55a7a84271abdbf25c7"),
    "11a37bafe24bfc783b09d3c3f0262824": ("reciprocal.f32", "2d4625ff1b04d6bd2d462e5539f9dd07"),
    "94ef9ef90dbb9e2088c760f856f487bb": ("reciprocal.f64", "37f0407650512a905641e902b2bb2c61"),
    "7a44d810383cbe26d8521bfcd735eab3": ("root.f32", "679dc9e09af88ebad87b1c37a5dae20a"),
    "128f13c73ddfbff81873fd3c22d66e2a": ("root.f64", "a3418f7b612fc6b417f3850d605baf72"),
}
"""By the digest of the test and of the fast result: what it is, and the digest of the slow way.

Each is rounded to nearest, denormal numbers as they are.
"""
