"""Control flow: loops, divergence, tables, calls."""

from __future__ import annotations

from tests.lift.vectors.form import Table


def add_forms(table: Table) -> None:
    """Enter all forms of this module."""
    table.add("loop_counted", "small i32", "b32",
              "mov.b32 %d, %b; mov.b32 %t0, 0;\nagain:\nsetp.ge.u32 %p0, %t0, %a; @%p0 bra done;\n"
              "mad.lo.u32 %d, %d, 1664525, %t0; add.u32 %t0, %t0, 1; bra again;\ndone:")  # fmt: skip
    table.add("loop_nested", "small small", "b32",
              "mov.b32 %d, 1; mov.b32 %t0, 0;\nouter:\nmov.b32 %t1, %t0;\ninner:\nmad.lo.u32 %d, %d, 69069, %t1; add.u32 %t1, %t1, 3;\n"
              "setp.lt.u32 %p0, %t1, %a; @%p0 bra inner;\nadd.u32 %t0, %t0, 5; setp.lt.u32 %p1, %t0, %b; @%p1 bra outer;")  # fmt: skip
    table.add("loop_with_exit", "i32 small", "b32",
              "mov.b32 %d, %a; mov.b32 %t0, 0;\nagain:\nmad.lo.u32 %d, %d, 1103515245, 12345; and.b32 %t1, %d, 0x70000; setp.eq.u32 %p0, %t1, 0; @%p0 bra done;\n"
              "add.u32 %t0, %t0, 1; setp.lt.u32 %p1, %t0, %b; @%p1 bra again;\nadd.u32 %d, %d, 17;\ndone:")  # fmt: skip
    table.add("branch_divergent", "i32 i32", "b32",
              "setp.lt.s32 %p0, %a, 0; @%p0 bra left;\nshr.u32 %t0, %a, 3; rem.u32 %d, %t0, 77; bra joined;\n"
              "left:\nand.b32 %t1, %b, 1; setp.eq.u32 %p1, %t1, 0; @%p1 bra deeper;\nmul.hi.u32 %d, %a, %b; bra joined;\n"
              "deeper:\nbar.warp.sync 0; xor.b32 %d, %a, %b;\njoined:\nadd.u32 %d, %d, 1;".replace("bar.warp.sync 0; ", ""))  # fmt: skip
    cases = "".join(
        f"case{n}:\nmad.lo.u32 %d, %b, {2 * n + 3}, {n * n}; "
        f"st.global.b32 [%out+4], {n}; bra joined;\n"
        for n in range(8)
    )
    targets = ", ".join(f"case{n}" for n in range(8))
    table.add("branch_table", "i32 i32", "b32 ",
              f"st.global.b32 [%out+4], 99; and.b32 %t0, %a, 7;\ntargets: .branchtargets {targets};\nbrx.idx %t0, targets;\n{cases}joined:")  # fmt: skip
    table.add("early_return", "i32", "",
              "st.global.b32 [%out], %a; setp.lt.s32 %p0, %a, 0; @%p0 ret;\nst.global.b32 [%out], %lane;", words=1)  # fmt: skip
    table.add("early_exit", "i32", "",
              "st.global.b32 [%out], %a; setp.lt.s32 %p0, %a, 0; @%p0 exit;\nst.global.b32 [%out], %lane;", words=1)  # fmt: skip
    _calls(table)


def _calls(table: Table) -> None:
    function = (".func (.reg .b32 %result) called_{n}(.reg .b32 %x, .reg .b32 %y)\n"
                "{{\n  mad.lo.u32 %result, %x, {factor}, %y;\n  xor.b32 %result, %result, %x;\n  ret;\n}}\n")  # fmt: skip
    direct = function.format(n="direct", factor=31)
    table.add("call_direct", "i32 i32", "b32 b32",
              "call (%d), called_direct, (%a, %b); call (%e), called_direct, (%b, %d);", globals=direct)  # fmt: skip
    table.add("call_divergent", "i32 i32", "b32",
              "setp.lt.s32 %p0, %a, 0; mov.b32 %d, %b; @%p0 call (%d), called_apart, (%a, %b);",
              globals=function.format(n="apart", factor=77))  # fmt: skip
    pair = function.format(n="first", factor=3) + function.format(n="second", factor=5)
    table.add("call_indirect", "i32 i32", "b32",
              "setp.lt.s32 %p0, %a, 0; mov.u64 %x0, called_first; mov.u64 %x1, called_second; selp.b64 %x2, %x0, %x1, %p0;\n"
              "kind: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);\ncall (%d), %x2, (%a, %b), kind;",
              globals=pair)  # fmt: skip
    recursive = (".func (.param .b32 result) called_again(.param .b32 n, .param .b32 y)\n"
                 "{\n  .reg .b32 %n, %y, %m, %r; .reg .pred %p;\n  ld.param.b32 %n, [n]; ld.param.b32 %y, [y];\n  setp.eq.u32 %p, %n, 0; @%p bra last;\n"
                 "  sub.u32 %m, %n, 1;\n  {\n  .param .b32 p0; .param .b32 p1; .param .b32 back;\n  st.param.b32 [p0], %m; st.param.b32 [p1], %y;\n"
                 "  call (back), called_again, (p0, p1);\n  ld.param.b32 %r, [back];\n  }\n"
                 "  mad.lo.u32 %r, %r, 5, %n; st.param.b32 [result], %r; ret;\nlast:\n  st.param.b32 [result], %y; ret;\n}\n")  # fmt: skip
    table.add("call_recursive", "i32 i32", "b32",
              "and.b32 %t0, %a, 7;\n{\n.param .b32 p0; .param .b32 p1; .param .b32 back;\nst.param.b32 [p0], %t0; st.param.b32 [p1], %b;\n"
              "call (back), called_again, (p0, p1);\nld.param.b32 %d, [back];\n}", globals=recursive)  # fmt: skip
