"""Inline PTX."""

from __future__ import annotations

import pytest

from cass_ray.translate.protocol import Translation
from cass_ray.translate.rules import RulesTranslator

ENGINE = RulesTranslator()


def translate(source: str) -> Translation:
    return ENGINE.translate(source, filename="a.cuh")


@pytest.mark.parametrize(
    ("ptx", "cpp"),
    [
        ('asm volatile("membar.gl;" ::: "memory");', "__threadfence();"),
        ('asm("brev.b32 %0, %1;" : "=r"(r) : "r"(a));', "r = __brev((unsigned int)(a));"),
        (
            'asm("add.u32 %0, %1, 3;" : "=r"(r) : "r"(a + b));',
            "r = (unsigned int)(a + b) + 3u;",
        ),
        (
            'asm("ld.global.cg.f32 %0, [%1+4];" : "=f"(y) : "l"(q));',
            "y = *reinterpret_cast<float*>((unsigned long long)(q) + 4);",
        ),
        (
            'asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(w) : "r"(a), "r"(b), "l"(c));',
            "w = static_cast<unsigned long long>((unsigned int)(a)) * (unsigned int)(b)"
            " + (unsigned long long)(c);",
        ),
        (
            'asm("shfl.sync.down.b32 %0, %1, 4, 0x181f, -1;" : "=r"(r) : "r"(a));',
            "r = __shfl_down((unsigned int)(a), 4u, 8);",
        ),
        ('asm("cp.async.commit_group;");', "(void)0;"),
        # The clock of AMD devices counts 100 MHz, PTX' counts nanoseconds.
        (
            'asm("mov.u32 %0, %globaltimer_hi;" : "=r"(r));',
            "r = static_cast<unsigned int>("
            "(static_cast<unsigned long long>(wall_clock64()) * 10ull) >> 32);",
        ),
        # PTX 8.5: no operation unless the grid was launched as a dependent of the one before.
        ('asm volatile("griddepcontrol.wait;" ::: "memory");', "(void)0;"),
        ('asm volatile("griddepcontrol.launch_dependents;");', "(void)0;"),
        (
            'asm("fma.rn.f32 %0, %1, %1, 0f3F800000;" : "=f"(y) : "f"(x));',
            "y = fmaf((x), (x), __uint_as_float(0x3F800000u));",
        ),
        (
            'asm("add.rz.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(z));',
            "y = cass::fadd_rz((x), (z));",
        ),
        (
            'asm("fma.rm.f64 %0, %1, %1, %2;" : "=d"(y) : "d"(x), "d"(z));',
            "y = cass::fma_rd((x), (x), (z));",
        ),
        (
            'asm("cvt.rp.f32.u64 %0, %1;" : "=f"(y) : "l"(n));',
            "y = __ull2float_ru((unsigned long long)(n));",
        ),
        (
            'asm("mul.rn.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(z));',
            "y = cass::fmul_rn((x), (z));",
        ),
        (
            'asm("mov.u32 %[out], %[in];" : [out] "=r"(r) : [in] "r"(a));',
            "r = (unsigned int)(a);",
        ),
    ],
)
def test_single_instructions(ptx: str, cpp: str) -> None:
    result = translate(ptx)
    assert result.source.endswith(cpp)
    assert not result.findings


@pytest.mark.parametrize(
    ("table", "expected"),
    [(0x96, lambda a, b, c: a ^ b ^ c), (0xE8, lambda a, b, c: (a & b) | (a & c) | (b & c))],
)
def test_three_input_logic(table: int, expected) -> None:  # type: ignore[no-untyped-def]
    source = f'asm("lop3.b32 %0, %1, %2, %3, {table};" : "=r"(r) : "r"(a), "r"(b), "r"(c));'
    expression = translate(source).source.removeprefix("r = ").removesuffix(";")
    expression = expression.replace("(unsigned int)", "")
    for row in range(8):
        a, b, c = (-(row >> bit & 1) for bit in (2, 1, 0))
        assert eval(expression, {"a": a, "b": b, "c": c}) == expected(a, b, c)


def test_several_instructions_become_a_block() -> None:
    source = (
        'asm("{\\n .reg .pred p;\\n setp.lt.s32 p, %1, 0;\\n @p mov.u32 %0, 7;\\n}"'
        ' : "+r"(r) : "r"(a));'
    )
    result = translate(source)
    assert result.source == (
        "do { unsigned int cass_0 = (unsigned int)(r); unsigned int cass_1 = (unsigned int)(a);"
        " bool cass_p = 0; cass_p = static_cast<int>(cass_1) < 0; if (cass_p) { cass_0 = 7u; }"
        " r = cass_0; } while (0);"
    )


@pytest.mark.parametrize(
    "instruction",
    [
        "shfl.sync.up.b32 %0, %1, 4, 0x1f, -1;",  # no lane is in range: each keeps its value
        "shfl.sync.down.b32 %0, %1, 4, 0x0f, -1;",  # to lane 15
        "shfl.sync.bfly.b32 %0, %1, 4, 0x0a1f, -1;",  # segments of no power of two
    ],
)
def test_a_shuffle_that_clamps_elsewhere_than_at_its_segment(instruction: str) -> None:
    source = f'asm("{instruction}" : "=r"(r) : "r"(a));'
    assert "= cass::shuffle<cass::Shuffle::" in translate(source).source


BRANCHES = """asm("{ .reg .pred p; setp.ne.b32 p, %2, 0;"
#if __CUDA_ARCH__ >= 750
    " @p ld.global.nc.L2::128B.f32 %0, [%1]; }"
#else
    " @p ld.global.nc.f32 %0, [%1LATER]; }"
#endif
    : "+f"(x) : "l"(p), "r"(guard));"""


def test_branches_inside_a_template_that_compute_the_same() -> None:
    result = translate(BRANCHES.replace("LATER", ""))
    whole = 'asm("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.nc.f32 %0, [%1]; }"'
    assert not result.errors
    assert result.source == translate(whole + ' : "+f"(x) : "l"(p), "r"(guard));').source


@pytest.mark.parametrize(
    "source",
    [
        BRANCHES.replace("LATER", "+4"),
        BRANCHES.replace("#else\n", "#elif X\n").replace("LATER", ""),
        BRANCHES.replace("#else\n", "#if X\n").replace("LATER", ""),
    ],
)
def test_branches_inside_a_template_that_differ_are_reported(source: str) -> None:
    result = translate(source)
    assert len(result.errors) == 1
    assert result.source.startswith("asm(")


def test_operands_are_translated_too() -> None:
    source = 'asm("mov.u32 %0, %1;" : "=r"(r) : "r"(__shfl_sync(~0u, a, 1)));'
    assert translate(source).source == "r = (unsigned int)(__shfl(a, 1, 32));"


def test_a_result_of_several_instructions_may_be_a_pointer() -> None:
    body = "mov.b64 {lo,hi}, %1; add.cc.u32 lo,lo,%2; addc.u32 hi,hi,0; mov.b64 %0, {lo,hi};"
    source = f'asm("{{ .reg .u32 lo,hi; {body} }}" : "=l"(next) : "l"(p), "r"(n));'
    assert "next = (decltype((next) + 0))(cass_0);" in translate(source).source


def test_a_statement_inside_a_macro() -> None:
    source = '#define POPC(d, a) asm("popc.b32 %0, %1;" \\\n  : "=r"(d) : "r"(a))\n'
    assert translate(source).source == "#define POPC(d, a) d = __popc((unsigned int)(a))\n"


MACRO = """\
#define OP(dir, kind, r, type, op) \\
__device__ inline type dir##_##op(type x, type y) { \\
  type z; \\
  asm("{ .reg ."#kind" t; "#op"."#kind" t, %1, %2; " \\
      "mov."#kind" %0, t; }" : "="#r(z) : #r(x), #r(y)); \\
  return z; \\
}
"""


def test_a_statement_that_a_macro_builds_from_its_arguments() -> None:
    uses = "OP(up, s32, r, int, min)\nOP(up, f32, f, float, add)\nOP(down, s32, r, int, min)\n"
    result = translate(MACRO + uses)
    assert not result.findings
    lines = result.source.splitlines()
    assert [line.split()[1] for line in lines[:2]] == [
        "CASS_PTX_OP_4_s32_r_min",
        "CASS_PTX_OP_4_f32_f_add",
    ]
    assert "cass_t = cass_1 + cass_2;" in lines[1]
    assert "  CASS_PTX_OP_4##_##kind##_##r##_##op; \\" in lines
    assert result.source.endswith(uses)


def test_an_argument_of_a_macro_may_be_a_constant_operand() -> None:
    """The macro of a header is used elsewhere: its argument is an operand, whatever it is."""
    shift = '#define SHIFT(d, lo, hi, n) asm("shf.r.wrap.b32 %0, %1, %2, " #n ";"'
    made = translate(f'{shift} : "=r"(d) : "r"(lo), "r"(hi))\n')
    assert not made.errors
    assert made.source.splitlines()[-1] == (
        "#define SHIFT(d, lo, hi, n) d = __funnelshift_r((unsigned int)(lo), (unsigned int)(hi), "
        "static_cast<unsigned int>((n)))"
    )
    other = translate('#define OP(d, a, op) asm(#op ".s32 %0, %1, 1;" : "=r"(d) : "r"(a))\n')
    assert "macros build" in other.errors[0].message


@pytest.mark.parametrize(
    "hint",
    ["", ' ".L2::" #size "B"', ' ".L2::128B"', '\n#else\n#define HINT(size) ".L2::" #size "B"'],
)
def test_what_a_macro_of_the_file_says_of_caches_is_left_out(hint: str) -> None:
    call = 'asm volatile("cp.async.cg.shared.global" {} " [%0], [%1], 16;" :: "r"(a), "l"(p));'
    define = f"#define HINT(size){hint}\n"
    made = translate(define + call.format("HINT(128)"))
    plain = translate(define + call.format(""))
    assert not made.errors and made.source == plain.source


def test_another_macro_in_a_template_is_refused() -> None:
    made = translate('#define KIND ".s32"\nasm("add" KIND " %0, %1, 1;" : "=r"(r) : "r"(a));')
    assert "macros build" in made.errors[0].message


@pytest.mark.parametrize("use", ["", "OP(up, s32, r, int, shf)\n", "OP(up, s32, r, int, A::b)\n"])
def test_a_statement_that_a_macro_builds_without_a_known_use(use: str) -> None:
    result = translate(MACRO + use)
    assert result.source == MACRO + use
    assert "macros build" in result.errors[0].message


@pytest.mark.parametrize(
    ("ptx", "why"),
    [
        (
            'asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"'
            ' : "=d"(a), "=d"(b) : "d"(c), "d"(c), "d"(a), "d"(b));',
            "mma.sync.aligned.m8n8k4",
        ),
        ('asm("wgmma.fence.sync.aligned;");', "wgmma.fence.sync.aligned"),
        ('asm("addc.u32 %0, %1, 0;" : "=r"(r) : "r"(a));', "carry from another asm"),
        ('asm(TEXT : "=r"(r));', "macros build"),
        ('asm("L: bra L;");', "has no translation"),
        ('asm("cvt.rs.f32.f64 %0, %1;" : "=f"(y) : "d"(x));', "modifiers rs"),
    ],
)
def test_what_is_unknown_stays_and_is_reported(ptx: str, why: str) -> None:
    result = translate("x;\n" + ptx)
    assert result.source == "x;\n" + ptx
    (error,) = result.errors
    assert (error.line, error.column) == (2, 1)
    assert why in error.message


@pytest.mark.parametrize(
    ("defines", "expected"),
    [
        ('#define P "l"\n', True),
        ('#ifdef __LP64__\n#define P "l"\n#else\n#define P "r"  // 32 bits\n#endif\n', True),
        ('  #  define P   "l" /* a pointer */\r\n', True),
        ('#define P "l"\n#define P "f"\n', False),
        ("#define P(x) x\n", False),
        ('#define P "lr"\n', False),
        ("", False),
    ],
)
def test_a_constraint_may_be_a_macro_of_the_file(defines: str, expected: bool) -> None:
    body = 'void f(int* q, int r) { asm("ld.global.u32 %0, [%1];" : "=r"(r) : P (q)); }\n'
    made = translate(f"{defines}{body}")
    assert (
        "r = *reinterpret_cast<unsigned int*>((unsigned long long)(q));" in made.source
    ) is expected
    assert [each.line for each in made.errors] == ([] if expected else [defines.count("\n") + 1])


def test_the_lane_of_a_warp_comes_from_a_snippet() -> None:
    result = translate('asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));')
    assert result.source.endswith("r = ((1u << cass::lane()) - 1u);")
    assert "inline unsigned int lane()" in result.source


def test_a_string_without_end_is_reported() -> None:
    result = translate('asm(x "mov.u32 ;\n);')
    assert result.source == 'asm(x "mov.u32 ;\n);'
    assert result.errors


@pytest.mark.parametrize(
    "ptx",
    [
        'asm volatile("red.async.global.mbarrier.u32 [%0], %1;" :: "l"(p), "r"(a));',
        'asm volatile("fence.sc.cluster;" ::: "memory");',
        'asm volatile("membar.everything;");',
    ],
)
def test_atomics_and_fences_that_are_not_known_are_findings(ptx):
    translation = translate(f"__device__ void f(unsigned* p, unsigned a) {{ {ptx} }}")
    assert translation.errors
    assert ptx in translation.source


@pytest.mark.parametrize(
    "source",
    ['__asm__(".symver powf,powf@GLIBC_2.2.5");\n', 'asm(".globl x\\n.set x, 1");\n'],
)
def test_the_hosts_assembler_is_left(source: str) -> None:
    """Directives of GNU's assembler at file scope, which clang leaves out of device code."""
    made = translate(f"{source}__global__ void k(int *p) {{ *p = 1; }}\n")
    assert source in made.source
    assert made.findings == ()


def test_ptx_has_variables_in_local_memory() -> None:
    made = translate('__global__ void k() { asm(".local .b32 x;"); }\n')
    assert [finding.construct for finding in made.findings] == ["asm"]


@pytest.mark.parametrize(
    ("filename", "code"),
    [
        ("a.cpp", 'void stop() { asm("int3"); }'),
        ("a.cpp", 'int f(int a) { asm("frob %0, 1" : "+r"(a)); return a; }'),
        ("a.cu", 'void wait() { asm volatile("pause" ::: "memory"); }'),
        (
            "a.cu",
            'void f(unsigned* a) { asm volatile("cpuid" : "=a"(a[0]), "=b"(a[1]) : "a"(0)); }',
        ),
        ("a.cu", 'long g() { long r; asm("movq %%rsp, %0" : "=r"(r)); return r; }'),
        ("a.h", 'inline void f(int* p) { asm("lock; incl %0" : "+m"(*p) : : "cc"); }'),
    ],
)
def test_assembly_for_the_host_stays(filename: str, code: str) -> None:
    result = RulesTranslator().translate(code, filename=filename)
    assert code in result.source
    assert not result.errors


@pytest.mark.parametrize(
    ("filename", "code"),
    [
        ("a.cu", '__device__ void stop() { asm("int3"); }'),
        ("a.cu", 'HD void f() { asm("tcgen05.wait::ld.sync.aligned;"); }'),
        ("a.cpp", '__device__ int x; void f() { asm("frob.b32 %0, 1;" : "+r"(x)); }'),
    ],
)
def test_assembly_that_may_be_the_devices_is_reported(filename: str, code: str) -> None:
    assert RulesTranslator().translate(code, filename=filename).errors
