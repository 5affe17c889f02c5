"""Sources that make a compiler read a file of this machine, or run native code in it.

A textual rule gives such programs a reason of their own (``forbidden_read``). It is switched off
here: what holds must be what the sandbox shows.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.cache import default_directory
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.toolchain.amd import toolchain as amd_module
from cass_ray.toolchain.amd.link import LinkTools, assemble
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia import toolchain as nvidia_module
from cass_ray.toolchain.nvidia.device import DeviceCompiler
from cass_ray.toolchain.nvidia.steps import CompilerStep, CompilerWorkbench, NvccSteps
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.opencl import toolchain as opencl_module
from cass_ray.toolchain.opencl.locate import find_opencl_amd, find_opencl_nvidia
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.isolation import Mount, View
from cass_ray.toolchain.unit import CompileFailure, Unit

pytestmark = [
    pytest.mark.skipif(not isolation.available(), reason="no sandbox here"),
    pytest.mark.amd,
    pytest.mark.nvidia,
]

SECRET = f"secret{secrets.token_hex(8)}"
KERNEL = "__global__ void k(int *p) { *p = 1; }\nint main() { return 0; }\n"
OPENCL_KERNEL = "__kernel void k(__global int *p) { *p = 1; }\n"

Attempt = Callable[[str, Path], bytes]
"""All that comes back for (source, tree): every output, or the message."""


@pytest.fixture(autouse=True)
def no_textual_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (amd_module, nvidia_module, opencl_module):
        monkeypatch.setattr(module, "forbidden_read", lambda *_: "")


@pytest.fixture(scope="module")
def amd() -> AmdToolchain:
    return find_amd()


@pytest.fixture(scope="module")
def nvidia() -> NvidiaToolchain:
    return find_nvidia()


@dataclass
class Tried:
    """What came back, kept whatever raises."""

    parts: list[bytes]

    def add(self, *given: str | bytes) -> None:
        self.parts += [part.encode() if isinstance(part, str) else part for part in given]

    def run(self, step: Callable[[], object]) -> bool:
        """Whether ``step`` went through; what a refused one said is kept."""
        try:
            step()
        except (CompileFailure, ToolMissing) as refused:
            self.add(str(refused), getattr(refused, "diagnostic", ""))
            return isinstance(refused, ToolMissing)
        return True


def by_amd(source: str, tree: Path) -> bytes:
    """clang on both sides, then the assembler and lld."""
    amd, tried = find_amd(), Tried([])
    (tree / "x.cu").write_text(source)
    program = tree.parent / "program"

    def work() -> None:
        made = amd.compile(Unit(tree, PurePosixPath("x.cu")))
        tried.add(made.host_assembly, made.device_assembly)
        amd.recombine(made.host_assembly, made.device_assembly, program)

    tried.run(work)
    tried.parts += [path.read_bytes() for path in tree.parent.glob("program*")]
    return b"\n".join(tried.parts)


def by_nvidia(source: str, tree: Path, *, clang: bool) -> bytes:
    """clang or cudafe++ and g++ on the host side; cicc and ptxas."""
    nvidia, tried = find_nvidia(), Tried([])
    nvidia = nvidia if clang else replace(nvidia, clang=None)
    (tree / "x.cu").write_text(source)

    def work() -> None:
        made = nvidia.compile(Unit(tree, PurePosixPath("x.cu")), want_ptx=True)
        tried.add(made.host_assembly, *made.cubins.values(), *made.ptx.values())

    tried.run(work)
    return b"\n".join(tried.parts)


def by_nvcc(source: str, tree: Path) -> bytes:
    """nvcc as it is: the GNU assembler, fatbinary and the linker too."""
    tried, program = Tried([]), tree.parent / "program"
    (tree / "x.cu").write_text(source)
    unit = Unit(tree, PurePosixPath("x.cu"))
    if tried.run(lambda: find_nvidia().build_executable(unit, program)):
        tried.add(program.read_bytes())
    return b"\n".join(tried.parts)


def by_opencl(source: str, tree: Path, *, vendor: str) -> bytes:
    (tree / "x.cl").write_text(source.replace(KERNEL, OPENCL_KERNEL))
    unit, tried = Unit(tree, PurePosixPath("x.cl")), Tried([])

    def work() -> None:
        if vendor == "amd":
            tried.add(find_opencl_amd().compile(unit, "gfx1100").device_assembly)
            return
        made = find_opencl_nvidia().compile(unit, ["sm_80"], want_ptx=True)
        tried.add(*made.cubins.values(), *made.ptx.values())

    tried.run(work)
    return b"\n".join(tried.parts)


COMPILERS: dict[str, Attempt] = {
    "HIP": by_amd,
    "CUDA by clang": lambda source, tree: by_nvidia(source, tree, clang=True),
    "CUDA by g++": lambda source, tree: by_nvidia(source, tree, clang=False),
    "CUDA by nvcc": by_nvcc,
    "OpenCL for AMD": lambda source, tree: by_opencl(source, tree, vendor="amd"),
    "OpenCL for Nvidia": lambda source, tree: by_opencl(source, tree, vendor="nvidia"),
}

# PATH is the secret's.
PREPROCESSED = {
    "#include": '#include "PATH"\n',
    "#include of a macro": '#define A "PATH"\n#include A\n',
    "#include_next": '#include_next "PATH"\n',
    "#import": '#import "PATH"\n',
    "#include behind a trigraph and a joined line": '??=inc\\\nlude "PATH"\n#in\\\nclude "PATH"\n',
    "#embed": "const char text[] = {\n#embed <PATH>\n};\n",
    "#include from upwards": '#include "../../../../../../../..PATH"\n',
    "a linked file": '#include "link.h"\n',
    "a file in a linked folder": '#include "folder/secret"\n',
    "a link of a link": '#include "again/link.h"\n',
    "the root of another process": '#include "/proc/1/root/PATH"\n',
    "its own root": '#include "/proc/self/root/PATH"\n',
    "its environment": '#include "/proc/self/environ"\n',
    "its open files": '#include "/dev/fd/3"\n#include "/proc/self/fd/3"\n#include "/dev/stdin"\n',
    "a line of another file in a message": '#line 1 "PATH"\nint x = undeclared;\n',
    "a marker of another file in a message": '# 1 "PATH" 1 3\nint x = undeclared;\n',
    "a module map": "#pragma clang module load secret\n#pragma clang module import secret\n",
    "a system header": "#pragma GCC system_header\n#include <PATH>\n",
    "the age of a file": '#pragma GCC dependency "PATH" it is newer\n',
    "a header compiled before": '#pragma GCC pch_preprocess "PATH"\n',
    "a library by pragma": '#pragma comment(lib, "PATH")\n#pragma comment(linker, "PATH")\n',
}
ASSEMBLED = {
    ".incbin": 'asm(".incbin \\"PATH\\"");\n',
    ".incbin in the data": 'asm(".data\\n.incbin \\"PATH\\", 0, 10\\n.text");\n',
    ".incbin of parts": 'asm(".inc" "bin \\"PA" "TH\\"");\n',
    ".incbin in octal": 'asm("\\056\\151ncbin \\042PATH\\042");\n',
    ".incbin of a raw string": 'asm(R"x(.incbin "PATH")x");\n',
    ".incbin by a macro": 'asm(".macro r d\\n\\\\d \\"PATH\\"\\n.endm\\nr .incbin");\n',
    ".incbin by a split macro": 'asm(".macro r d\\n.inc\\\\d \\"PATH\\"\\n.endm\\nr bin");\n',
    ".incbin by .irp": 'asm(".irp d,bin\\n.inc\\\\d \\"PATH\\"\\n.endr");\n',
    ".incbin of the preprocessor": '#define S(x) #x\nasm(S(.incbin) " " "\\"PATH\\"");\n',
    ".incbin by _Pragma and a macro": '#define A(x) asm(x)\nA(".incbin \\"PATH\\"");\n',
    ".incbin in a function": 'void f() { asm volatile(".incbin \\"PATH\\""); }\n',
    ".include": 'asm(".include \\"PATH\\"");\n',
    ".include from upwards": 'asm(".include \\"../../../../../../..PATH\\"");\n',
    ".file and .loc": 'asm(".file 1 \\"PATH\\"\\n.loc 1 1\\n.bogus");\n',
    ".file with a source": 'asm(".file 1 \\"/\\" \\"PATH\\" source \\"x\\"\\n.loc 1 1 1\\n");\n',
    ".linefile of another": 'asm("# 1 \\"PATH\\"\\n.bogus\\n");\n',
    "a library by section": 'asm(".section .deplibs,\\"MS\\",@llvm_dependent_libraries,1\\n'
    '.asciz \\"PATH\\"\\n.text");\n',
    "a linker's options": 'asm(".section .linker-options,\\"e\\",@llvm_linker_options\\n'
    '.asciz \\"lib\\"\\n.asciz \\"PATH\\"\\n.text");\n',
    ".section of a strange name": 'asm(".section \\"PATH\\",\\"a\\"\\n.incbin \\"PATH\\"");\n',
    ".cfi": 'asm(".cfi_sections .eh_frame\\n.cfi_startproc\\n.cfi_personality 0,PATH\\n'
    '.cfi_endproc");\n',
    ".dump and .load": 'asm(".load \\"PATH\\"\\n.dump \\"PATH\\"\\n.secure_log_unique \\"x\\"");\n',
    "assembly in device code": '__device__ void f() { asm volatile(".incbin \\"PATH\\""); }\n'
    '__global__ void g() { f(); }\n',
    "PTX": '__global__ void g() { asm volatile(".file 9 \\"PATH\\";"); }\n',
}  # fmt: skip

ATTEMPTS = [
    *((attack, name) for attack in PREPROCESSED for name in COMPILERS if name != "CUDA by nvcc"),
    *((attack, "HIP") for attack in ASSEMBLED),
    *((attack, "CUDA by nvcc") for attack in (".incbin", ".incbin by a macro", ".include", "PTX")),
]


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    """A program's tree with links out of it; ``secret`` lies beside it."""
    folder = tmp_path / "tree"
    folder.mkdir()
    secret = tmp_path / "secret"
    secret.write_text(f'"{SECRET}"\n')
    (folder / "link.h").symlink_to(secret)
    (folder / "folder").symlink_to(tmp_path)
    (folder / "again").symlink_to("folder/tree")
    (folder / "module.modulemap").write_text(f'module secret {{ header "{secret}" export * }}\n')
    yield folder


def found_in(output: bytes, secret: str) -> bool:
    """As text, as numbers of an array, or in any other spelling of a compiler's."""
    raw = secret.encode()
    spellings = {raw, raw.hex().encode(), raw[::-1]}
    spellings |= {separator.join(b"%d" % byte for byte in raw) for separator in (b",", b", ")}
    return any(each in output for each in spellings)


@pytest.mark.parametrize(("attack", "compiler"), ATTEMPTS)
def test_a_file_of_this_machine(attack: str, compiler: str, tree: Path) -> None:
    source = {**PREPROCESSED, **ASSEMBLED}[attack]
    output = COMPILERS[compiler](source.replace("PATH", f"{tree.parent}/secret") + KERNEL, tree)
    assert output
    assert not found_in(output, SECRET)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_in_the_tree_it_would_be_found(compiler: str, tree: Path) -> None:
    (tree / "secret").write_text((tree.parent / "secret").read_text())
    attack = ASSEMBLED[".incbin"] if compiler == "CUDA by nvcc" else PREPROCESSED["#include"]
    output = COMPILERS[compiler](attack.replace("PATH", "secret") + KERNEL, tree)
    assert found_in(output, SECRET)


@pytest.mark.parametrize("compiler", [name for name in COMPILERS if name != "CUDA by nvcc"])
@pytest.mark.parametrize("path", ["PATH", "/proc/self/exe", "/root", "/etc/passwd"])
def test_whether_a_file_is_there(path: str, compiler: str, tree: Path) -> None:
    path = path.replace("PATH", f"{tree.parent}/secret")
    source = f'#if __has_include("{path}")\n#error it is there\n#endif\n'
    assert b"it is there" not in COMPILERS[compiler](source + KERNEL, tree)


@pytest.mark.parametrize("compiler", ["HIP", "CUDA by clang"])
def test_where_the_tree_lies(compiler: str, tree: Path) -> None:
    source = "__global__ void g(const char **p) { *p = __FILE__; }\n" + KERNEL
    source += 'const char *a = __BASE_FILE__, *b = __builtin_FILE();\nasm(".ident \\"x\\"");\n'
    for more in ("", "#error stop\n"):
        assert str(tree).encode() not in COMPILERS[compiler](source + more, tree)


@pytest.fixture(params=["home", "cache", "uploads of another key", "shadow"])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[Path, str]]:
    """(a file of the host, a text that it holds)."""
    if request.param == "shadow":
        shadow = Path("/etc/shadow")
        if not os.access(shadow, os.R_OK):
            pytest.skip("this user may not read it either")
        yield shadow, shadow.read_text().splitlines()[0]
        return
    folder = {
        "home": Path.home(),
        "cache": default_directory(),
        "uploads of another key": default_directory() / "serve" / "jobs",
    }[request.param]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f".attack-{secrets.token_hex(4)}"
    file.write_text(f'"{SECRET}"\n')
    yield file, SECRET
    file.unlink()


@pytest.mark.parametrize("compiler", ["HIP", "CUDA by clang", "CUDA by nvcc", "OpenCL for AMD"])
def test_places_of_secrets(compiler: str, place: tuple[Path, str], tree: Path) -> None:
    path, secret = place
    source = f'asm(".incbin \\"{path}\\"");\n' if "nvcc" in compiler else f'#include "{path}"\n'
    assert not found_in(COMPILERS[compiler](source + KERNEL, tree), secret)


# Assembly text comes from models and from clients.
DEVICE_TEXTS = {
    ".incbin": '.data\n.incbin "PATH"\n',
    ".include": '.include "PATH"\n',
    "a macro": '.macro r d\n\\d "PATH"\n.endm\n.data\nr .incbin\n',
    "other letters": '.data\n.INCBIN "PATH"\n.IncBin "PATH"\n',
    "octal digits in the name": '.data\n.incbin "OCTAL"\n',
    "a library": '.section .deplibs,"MS",@llvm_dependent_libraries,1\n.asciz "PATH"\n',
    "a line of a message": '# 1 "PATH"\n.bogus\n',
    "a file of debugging": '.file 1 "/" "PATH" md5 0x0\n.loc 1 1 1\ns_nop 0\n',
    "a symbol of the linker": '.globl x\nx = "PATH"\n.data\n.quad x\n',
}


@pytest.mark.parametrize("attack", DEVICE_TEXTS)
@pytest.mark.parametrize("side", ["device", "host"])
def test_assembly_of_a_stranger(attack: str, side: str, amd: AmdToolchain, tree: Path) -> None:
    path = f"{tree.parent}/secret"
    octal = "".join(f"\\{ord(letter):03o}" for letter in path)
    text = DEVICE_TEXTS[attack].replace("PATH", path).replace("OCTAL", octal)
    tried = Tried([])
    if side == "device":
        tried.run(lambda: tried.add(amd.assemble(text)))
    else:
        tried.run(lambda: amd.recombine(text, "s_nop 0\n", tree.parent / "program"))
        tried.parts += [path.read_bytes() for path in tree.parent.glob("program*")]
    assert not found_in(b"".join(tried.parts), SECRET)


# What native code in a compiler could leave in place of its result.
RESULTS = {
    "a link to a file of the host": 'ln -s SECRET "$0"',
    "a hard link to a file of the host": 'ln SECRET "$0"',
    "a pipe": 'mkfifo "$0"',
    "a folder": 'mkdir "$0"',
    "nothing": "true",
}


@pytest.mark.parametrize("attack", RESULTS)
def test_a_compiler_that_is_taken_over(attack: str, tree: Path) -> None:
    """Its results are read by somebody who sees more than it did."""
    work = tree.parent / "work"
    work.mkdir()
    script = RESULTS[attack].replace("SECRET", str(tree.parent / "secret"))
    ptxas = CompilerStep("ptxas", ("/bin/sh", "-c", script, "/cass-folder/cass-source.cubin"))
    mounts = (Mount(tree, Path("/cass/source")), Mount(work, Path("/cass/work"), writable=True))
    bench = CompilerWorkbench(Unit(tree, PurePosixPath("x.cu")), work, View(mounts=mounts))
    with pytest.raises(CompileFailure) as failure:
        DeviceCompiler("sm_80", NvccSteps((ptxas,), {"PATH": "/usr/bin:/bin"})).assemble(bench)
    assert SECRET not in str(failure.value)


def test_a_linker_that_is_taken_over(tree: Path) -> None:
    linker = tree.parent / "lld"
    linker.write_text(f"#!/bin/sh\nln -s {tree.parent}/secret device.co\n")
    linker.chmod(0o755)
    tools = LinkTools(Path("/bin/true"), linker, (linker,))
    with pytest.raises(CompileFailure, match="no readable file"):
        assemble(tools, "", "gfx1100")


@pytest.mark.parametrize(
    "name", ["../x.h", "/etc/x.h", "a/../../x.h", "..", "a\0b.h", "", ".", "n" * 300, "x.cu/y.h"]
)
def test_files_of_a_program_stay_in_its_tree(name: str, tree: Path) -> None:
    sources = Sources(PurePosixPath("x.cu"), {"x.cu": b"", name: b"written"})
    with pytest.raises(CompileFailure):
        sources.write(tree)
    assert b"written" not in [path.read_bytes() for path in tree.parent.glob("*.h")]


def test_a_runtime_header_of_its_own_is_not_that_of_others(
    nvidia: NvidiaToolchain, tree: Path
) -> None:
    """A process that has read a runtime header serves many programs."""
    (tree / "real.h").write_text("#include_next <cuda_runtime.h>\n")
    hostile = (
        "#pragma GCC system_header\n#include_next <cuda_runtime.h>\n"
        "#ifndef EVIL\n#define EVIL\n__device__ int evil(int x) { return x + 4242; }\n"
        "#define one() evil(1)\n#endif\n"
    )
    source = "__device__ int one() { return 1; }\n__global__ void k(int *p) { *p = one(); }\n"
    poisoned = source.replace("__device__ int one() { return 1; }\n", "")
    for number in range(6):
        (tree / "cuda_runtime.h").write_text(hostile)
        (tree / f"h{number}.cu").write_text(f"// {number}\n{poisoned}")
        nvidia.compile(Unit(tree, PurePosixPath(f"h{number}.cu")))
    honest = tree.parent / "honest"
    honest.mkdir()
    (honest / "x.cu").write_text(source)
    made = nvidia.compile(Unit(honest, PurePosixPath("x.cu")), want_ptx=True)
    assert "4243" not in made.ptx["sm_80"] and "evil" not in made.ptx["sm_80"]
