"""Packages of CUDA's core libraries in CMake, as hipCUB and rocThrust have theirs."""

from __future__ import annotations

import pytest

from cass_ray.translate.project.build_files import translate_cmake


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("find_package(CUB REQUIRED\n HINTS ${CUDAToolkit_ROOT}/lib64/cmake/cub)",
         "find_package(hipcub REQUIRED)"),
        ("find_package(CUB 1.9 QUIET)", "find_package(hipcub QUIET)"),
        ("find_package(Thrust 2.0 CONFIG REQUIRED)", "find_package(rocthrust REQUIRED)"),
        ("find_package(CCCL ${V} REQUIRED CONFIG HINTS ${D})",
         "find_package(rocthrust REQUIRED)\nfind_package(hipcub REQUIRED)"),
        ("find_dependency(CUB)", "find_dependency(hipcub)"),
        ("if(NOT CUB_FOUND)\nendif()", "if(NOT hipcub_FOUND)\nendif()"),
        ("include_directories(${CUB_INCLUDE_DIR})", "include_directories(${hipcub_INCLUDE_DIR})"),
        ("thrust_create_target(Thrust FROM_OPTIONS)",
         "target_link_libraries(Thrust INTERFACE roc::rocthrust)"),
        ("if(TARGET CCCL::CCCL AND TARGET CCCL::CUB)\nendif()",
         "if(TARGET hip::hipcub AND TARGET hip::hipcub)\nendif()"),
        ("target_link_libraries(a PUBLIC CUB::CUB CCCL::Thrust)",
         "target_link_libraries(a PUBLIC hip::hipcub roc::rocthrust)"),
        ("target_link_libraries(a PRIVATE $<BUILD_INTERFACE:CCCL::CCCL>)",
         "target_link_libraries(a PRIVATE $<BUILD_INTERFACE:roc::rocthrust;hip::hipcub>)"),
    ],
)  # fmt: skip
def test_packages_and_targets(command: str, expected: str) -> None:
    made = translate_cmake(f"find_package(CUB)\n{command}\n").source
    assert f"\n{expected}\n" in made


@pytest.mark.parametrize(
    "command",
    [
        "find_package(CUBE REQUIRED)",
        "find_package(ThrustMaster)",
        "target_link_libraries(a MyCUB::CUB)",
        "set(MY_CUB_FOUND 1)",
        "target_link_libraries(a CCCL::libcudacxx)",
    ],
)
def test_others_stay(command: str) -> None:
    assert f"\n{command}\n" in translate_cmake(f"find_package(CUB)\n{command}\n").source
