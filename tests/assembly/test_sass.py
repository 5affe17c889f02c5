from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.assembly import sass
from tests.assembly.samples import DATA, read

LISTINGS = sorted(path.name for path in DATA.glob("*.sass"))


def raw_instructions(listing: str) -> list[tuple[str, str]]:
    """Address and opcode of every instruction, read without the parser under test."""
    return re.findall(r"^ +/\*([0-9a-f]{4})\*/ +(?:@\S+ )?([A-Z][\w.]*)", listing, re.MULTILINE)


@pytest.mark.parametrize("name", LISTINGS)
def test_every_instruction_is_read(name: str) -> None:
    text = read(name)
    parsed = [i for function in sass.parse(text).functions for i in function.instructions]
    assert [(f"{i.address:04x}", i.mnemonic) for i in parsed] == raw_instructions(text)


@pytest.mark.parametrize("name", LISTINGS)
def test_normal_form_is_idempotent_and_keeps_the_instructions(name: str) -> None:
    once = sass.normalize(read(name))
    assert sass.normalize(once) == once
    lines = [line for line in once.splitlines() if line and line[0] in "@ABCDEFGHILMNOPRSUVY"]
    lines = [line for line in lines if not line.startswith(("Function :", "Device function :"))]
    assert len(lines) == len(raw_instructions(read(name)))


@pytest.mark.parametrize("name", LISTINGS)
def test_normal_form_has_no_trace_of_addresses_and_encodings(name: str) -> None:
    text = sass.normalize(read(name))
    assert "/*" not in text
    assert "`" not in text
    assert ".L_x_" not in text
    assert not re.search(r"[ \t]$|  |\t", text, re.MULTILINE)


@pytest.mark.parametrize("name", LISTINGS)
def test_every_label_that_is_named_is_defined_once(name: str) -> None:
    for text in sass.functions(read(name)).values():
        defined = re.findall(r"^(\.L_\d+):$", text, re.MULTILINE)
        named = set(re.findall(r"\.L_\d+(?!:|\d)", text))
        assert set(defined) == named
        assert len(defined) == len(named)


@pytest.mark.parametrize("architecture", ["sm_89", "sm_90"])
def test_both_tools_give_one_normal_form(architecture: str) -> None:
    from_cuobjdump = sass.functions(read(f"kernels.{architecture}.cuobjdump.sass"))
    from_nvdisasm = sass.functions(read(f"kernels.{architecture}.nvdisasm.sass"))
    assert list(from_cuobjdump) == list(from_nvdisasm)
    different = [name for name in from_nvdisasm if from_cuobjdump[name] != from_nvdisasm[name]]
    assert different == ["choose"]  # cuobjdump does not print the targets of its jump tables
    assert "BRX" in from_cuobjdump["choose"]


def test_tools_agree_with_encodings_and_data_sections() -> None:
    assert sass.normalize(read("launch.sm_89.nvdisasm-hex.sass")) == sass.normalize(
        read("launch.sm_89.cuobjdump.sass")
    )


def test_normal_form_of_a_kernel_by_hand() -> None:
    listing = """
\tcode for sm_89
\t\tFunction : _Z4spinPi
\t.headerflags\t@"EF_CUDA_SM89 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM89)"
        /*0000*/                   MOV R1, c[0x0][0x28] ;       /* 0x00000a0000017a02 */
                                                                /* 0x000fe40000000f00 */
        /*0010*/              @!P0 BRA 0x30 ;                   /* 0x0000001000008947 */
                                                                /* 0x000fea0003800000 */
        /*0020*/                   EXIT ;                       /* 0x000000000000794d */
                                                                /* 0x000fea0003800000 */
        /*0030*/                   BRA 0x30;                    /* 0xfffffff000007947 */
                                                                /* 0x000fc0000383ffff */
"""
    assert sass.normalize(".target sm_89\n" + listing) == (
        ".target sm_89\n\nFunction : _Z4spinPi\n"
        "MOV R1, c[0x0][0x28]\n@!P0 BRA .L_0\nEXIT\n.L_0:\nBRA .L_0\n"
    )
    branch = sass.parse(listing).functions[0].instructions[1]
    assert branch.encoding == (0x0000001000008947, 0x000FEA0003800000)
    assert branch.predicate == "@!P0"


def test_targets_of_calls_returns_and_jump_tables_become_labels() -> None:
    functions = sass.functions(read("kernels.sm_89.nvdisasm.sass"))
    advance = next(text for name, text in functions.items() if "advance" in name)
    callee = re.search(r"CALL\.REL\.NOINC (\.L_\d+)\n", advance)
    base = re.search(r"RET\.REL\.NODEC R\d+ (\.L_\d+)\n", advance)
    assert callee and f"\n{callee[1]}:\n" in advance
    assert base and advance.splitlines()[1] == f"{base[1]}:"  # returns count from the start
    tables = re.findall(r"BRX R\d+ \.L_0 \(((?:\.L_\d+(?:, )?)+)\)", functions["choose"])
    assert [len(table.split(", ")) for table in tables] == [4, 3]


def test_a_mask_is_no_branch_target() -> None:
    listing = """\t\tFunction : f
        /*0000*/                   BAR.SYNC 0x10 ;
        /*0010*/                   WARPSYNC 0x10 ;
        /*0020*/                   BSSY B0, 0x10 ;
        /*0030*/                   CALL.ABS.NOINC 0x0 ;
"""
    assert sass.normalize(listing) == (
        "Function : f\nBAR.SYNC 0x10\n.L_0:\nWARPSYNC 0x10\nBSSY B0, .L_0\nCALL.ABS.NOINC 0x0\n"
    )


def test_kernels_and_device_functions_are_told_apart() -> None:
    listing = """
//--------------------- .text._Z6helperfi         --------------------------
\t.section\t.text._Z6helperfi,"ax",@progbits
.text._Z6helperfi:
        .type           _Z6helperfi,@function
_Z6helperfi:
        /*0000*/                   RET.ABS.NODEC R20 `(_Z6helperfi) ;
\t.section\t.text.main_kernel,"ax",@progbits
.text.main_kernel:
        .other          main_kernel,@"STO_CUDA_ENTRY STV_DEFAULT"
main_kernel:
        /*0000*/                   CALL.ABS.NOINC `(_Z6helperfi) ;
        /*0010*/                   EXIT ;
"""
    assert sass.kernel_names(listing) == ["main_kernel"]
    assert sass.kernel_names(sass.normalize(listing)) == ["main_kernel"]
    assert "Device function : _Z6helperfi\n" in sass.normalize(listing)
    assert "CALL.ABS.NOINC _Z6helperfi\n" in sass.normalize(listing)


def test_instruction_parts() -> None:
    instruction = sass.SassInstruction(
        0, "@!UP0 IMAD.WIDE.U32 R2, R3, c[0x0][0x160], desc[UR4][R2.64]"
    )
    assert instruction.predicate == "@!UP0"
    assert instruction.mnemonic == "IMAD.WIDE.U32"
    assert instruction.opcode == "IMAD"
    assert instruction.modifiers == ("WIDE", "U32")
    assert instruction.operands == ("R2", "R3", "c[0x0][0x160]", "desc[UR4][R2.64]")
    assert sass.SassInstruction(0, "EXIT").operands == ()


def test_a_listing_knows_its_architecture_sections_and_subroutines() -> None:
    listing = sass.parse(read("launch.sm_89.nvdisasm-hex.sass"))
    assert listing.architectures == ["sm_89"]
    assert listing.kernels == ["_Z5counti"]
    assert ".zero" in listing.sections[".nv.constant0._Z5counti"]
    kernels = sass.parse(read("kernels.sm_90.nvdisasm.sass"))
    subroutines = {name for function in kernels.functions for name in function.subroutines}
    assert any(name.endswith("$_Z9integratefi") for name in subroutines)


def test_two_architectures_in_one_listing_stay_apart() -> None:
    both = read("kernels.sm_89.cuobjdump.sass") + read("kernels.sm_90.cuobjdump.sass")
    assert sass.parse(both).architectures == ["sm_89", "sm_90"]
    text = sass.normalize(both)
    assert text.count(".target sm_") == 2
    assert sass.normalize(text) == text


def test_text_without_a_function_is_empty() -> None:
    assert sass.normalize("") == ""
    assert sass.normalize("\n\tcode for sm_89\n\t.target\tsm_89\n") == ""
    assert sass.parse("int main() { return 0; }").functions == []


operands = st.sampled_from(["R1", "RZ", "c[0x0][0x28]", "0x10", "-0x1", "[R2.64+0x8]", "PT", "1.5"])
opcodes = st.sampled_from(["MOV", "IMAD.MOV.U32", "EXIT", "BRA", "BSSY", "ISETP.GE.AND", "BRX"])
guards = st.sampled_from(["", "@P0 ", "@!UP1 "])


@st.composite
def cuobjdump_listings(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A listing laid out as cuobjdump does, and its opcodes."""
    lines: list[str] = []
    written: list[str] = []
    for number in range(draw(st.integers(1, 3))):
        lines.append(f"\t\tFunction : _Z{number}")
        start = draw(st.sampled_from([0, 0x80]))
        for index in range(draw(st.integers(0, 8))):
            opcode, arguments = draw(opcodes), draw(st.lists(operands, max_size=3))
            text = f"{draw(guards)}{opcode} {', '.join(arguments)}".rstrip()
            padding = " " * draw(st.integers(0, 30))
            ending = draw(st.sampled_from([";", " ;"]))
            lines.append(f"        /*{start + 16 * index:04x}*/ {padding}{text}{ending}{padding}")
            if draw(st.booleans()):
                lines[-1] += " /* 0x00000a0000017a02 */"
                lines.append(padding + "     /* 0x000fe40000000f00 */")
            written.append(opcode)
    return "\n".join(lines), written


@given(cuobjdump_listings())
def test_normalize_is_idempotent_and_loses_nothing(listing: tuple[str, list[str]]) -> None:
    text, written = listing
    once = sass.normalize(text)
    assert sass.normalize(once) == once
    for form in (text, once):
        parsed = [i.mnemonic for f in sass.parse(form).functions for i in f.instructions]
        assert parsed == written


@given(st.text(alphabet=st.sampled_from('FunctioABRX :;@P0.L_/*{}\n\t x1`()"$')))
def test_normalize_is_idempotent_on_anything(text: str) -> None:
    once = sass.normalize("Function : f\n" + text)
    assert sass.normalize(once) == once


def nvidia_tool(name: str) -> Path:
    packaged = Path(sysconfig.get_path("purelib"), "nvidia", "cu13", "bin", name)
    found = packaged if packaged.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} not found")
    return Path(found)


@pytest.mark.nvidia
def test_live_tools_agree_on_every_instruction(tmp_path: Path) -> None:
    nvcc, nvdisasm = nvidia_tool("nvcc"), nvidia_tool("nvdisasm")
    cuobjdump = nvidia_tool("cuobjdump")
    cubin = tmp_path / "kernels.cubin"
    command = [nvcc, "-arch=sm_86", "-cubin", "-o", cubin, DATA / "kernels.cu"]
    subprocess.run(command, check=True, capture_output=True)

    def printed(*command: str | Path) -> sass.SassListing:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return sass.parse(done.stdout)

    listings = [
        printed(cuobjdump, "-sass", cubin),
        printed(nvdisasm, "-c", cubin),
        printed(nvdisasm, "-hex", cubin),
    ]
    mnemonics = [
        [(f.name, i.address, i.predicate, i.mnemonic) for f in x.functions for i in f.instructions]
        for x in listings
    ]
    assert mnemonics[0] == mnemonics[1] == mnemonics[2]
    assert listings[1].render() == listings[2].render()
    encodings = [
        [i.encoding for f in x.functions for i in f.instructions]
        for x in (listings[0], listings[2])
    ]
    assert encodings[0] == encodings[1]
    assert all(len(encoding) == 2 for encoding in encodings[0])
