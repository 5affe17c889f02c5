"""What CMake files ask Python of an installed PyTorch. Its headers are those of the wheel, which a
recorded build does not see."""

from types import SimpleNamespace

__version__ = "2.9.1"
version = SimpleNamespace(__version__=__version__, cuda="13.0", hip=None, debug=False)
utils = SimpleNamespace(cmake_prefix_path="/cass/python/modules/torch/share/cmake")
_C = SimpleNamespace(_GLIBCXX_USE_CXX11_ABI=True)


def compiled_with_cxx11_abi() -> bool:
    """True: PyTorch's wheels are built with it."""
    return True
