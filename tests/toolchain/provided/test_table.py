"""Which package has a header."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cass_ray.toolchain.provided.errors import HeadersError
from cass_ray.toolchain.provided.packages_table import (
    described,
    package_of_header,
    packages,
    packages_of_headers,
    packages_of_programs,
    with_needs,
)
from cass_ray.toolchain.provided.store import HeaderStore, lock_file, package_of_key


@pytest.mark.parametrize(
    ("header", "package"),
    [
        ("cublas_v2.h", "nvidia-cublas"),
        ("cublasLt.h", "nvidia-cublas"),
        ("doctest.h", "doctest-dev"),
        ("catch.hpp", "catch2"),
        ("cusparse.h", "nvidia-cusparse"),
        ("cusparseLt.h", "nvidia-cusparselt-cu13"),
        ("cudnn.h", "nvidia-cudnn-cu13"),
        ("nppi_filtering_functions.h", "nvidia-npp"),
        ("nvtx3/nvToolsExt.h", "nvidia-nvtx"),
        ("cutlass/gemm/device/gemm.h", "nvidia-cutlass"),
        ("cute/tensor.hpp", "nvidia-cutlass"),
        ("ATen/cuda/CUDAContext.h", "torch"),
        ("pybind11/pybind11.h", "pybind11"),
        ("boost/shared_ptr.hpp", "libboost1.74-dev"),
        ("glog/logging.h", "libgoogle-glog-dev"),
        ("google/protobuf/message.h", "libprotobuf-dev"),
        ("GL/glew.h", "libglew-dev"),
        ("GL/gl.h", "libgl-dev"),
        ("opencv2/core.hpp", "libopencv-core-dev"),
        ("rmm/device_uvector.hpp", "librmm-cu13"),
        ("rapids_logger/logger.hpp", "rapids-logger"),
        ("mkl_blas.h", "mkl-include"),
        ("Eigen/Dense", "libeigen3-dev"),
        ("mpi.h", "libopenmpi-dev"),
        ("Python.h", "libpython3.11-dev"),
        ("fst/types.h", "libfst-dev"),
        ("tvm/ffi/container/tensor.h", "apache-tvm-ffi"),
        ("dlpack/dlpack.h", "apache-tvm-ffi"),
        ("nanobind/nanobind.h", "nanobind"),
        ("nvshmem.h", "nvidia-nvshmem-cu13"),
        ("nvshmemx.h", "nvidia-nvshmem-cu13"),
        ("nvcomp.hpp", "nvidia-libnvcomp-cu13"),
        ("nvcomp/lz4.h", "nvidia-libnvcomp-cu13"),
        ("nvml.h", "nvidia-nvml-dev"),
        ("nvPTXCompiler.h", "nvidia-nvptxcompiler"),
        ("nvFatbin.h", "nvidia-nvfatbin"),
        ("xtl/xsequence.hpp", "xtl-dev"),
        ("nvjpeg2k.h", "nvidia-nvjpeg2k-cu13"),
        ("nvjpeg.h", "nvidia-nvjpeg"),
        ("sparsehash/dense_hash_map", "libsparsehash-dev"),
        ("google/dense_hash_map", "libsparsehash-dev"),
        ("flatbuffers/flatbuffers.h", "libflatbuffers-dev"),
        ("mujoco/mujoco.h", "libmujoco-dev"),
        ("proj.h", "libproj-dev"),
        ("spoa/spoa.hpp", "libspoa-dev"),
        ("Random123/philox.h", "librandom123-dev"),
        ("imgui.h", "libimgui-dev"),
    ],
)
def test_a_header_is_in_the_package_that_has_it(header: str, package: str) -> None:
    found = package_of_header(header)

    assert found is not None
    assert found.name == package


@pytest.mark.parametrize(
    "header",
    [
        "stdio.h",
        "vector",
        "helper_cuda.h",
        "my/cublas_v2.h",
        "boost",
        "xboost/a.h",
        "sys/time.h",
        "",
    ],
)
def test_other_headers_are_in_none(header: str) -> None:
    assert package_of_header(header) is None


def test_what_headers_need_comes_along() -> None:
    names = [package.name for package in packages_of_headers(["torch/extension.h", "vector"])]

    assert {"torch", "nvidia-cublas", "nvidia-cusparse", "libpython3.11-dev"} <= set(names)
    assert names == sorted(set(names))


def test_what_programs_need_comes_along() -> None:
    names = [package.name for package in packages_of_programs(["libtoolize"])]

    assert {"libtool", "automake", "autoconf", "m4"} <= set(names)


def test_every_package_is_pinned_and_what_it_needs_is_there() -> None:
    assert list(packages()) == list(described())
    for package in packages().values():
        assert len(package.digest) == 64
        assert with_needs(package.needs) is not None
        assert package_of_key(package.key) == package


def test_a_folder_is_named_by_what_is_in_it() -> None:
    keys = [package.key for package in packages().values()]

    assert len(set(keys)) == len(keys)
    assert not any("/" in key or ".." in key for key in keys)


def test_a_key_of_another_version_is_refused() -> None:
    with pytest.raises(HeadersError, match="torch-1-0123"):
        package_of_key("torch-1-0123")


def test_the_lock_file_names_versions_and_digests() -> None:
    rows = json.loads(lock_file(with_needs(["pybind11"])))["headers"]

    assert [row["name"] for row in rows] == ["libpython3.11-dev", "pybind11"]
    assert rows[1]["sha256"] == packages()["pybind11"].digest


def test_a_package_that_is_there_needs_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, package = HeaderStore(tmp_path), packages()["nvidia-cublas"]
    (store.root(package) / "include").mkdir(parents=True)
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    assert store.fetch_all([package]) == {}
    assert store.include_folders(package) == [store.root(package) / "include"]


def test_all_headers_that_opencvs_own_collection_includes() -> None:
    """``opencv2/opencv.hpp`` of 4.6.0 includes these, a package of Debian's each."""
    modules = "calib3d features2d dnn flann highgui imgcodecs imgproc ml objdetect photo stitching"
    wanted = {f"libopencv-{name}-dev" for name in f"core {modules} video videoio".split()}
    assert wanted <= {each.name for each in packages_of_headers(["opencv2/opencv.hpp"])}
