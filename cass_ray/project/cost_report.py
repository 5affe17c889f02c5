"""The cost of a port as text and as a page."""

from __future__ import annotations

import html

from cass_ray.project.cost import MINUTES_BY_RULES, MINUTES_BY_SEVERITY, Cost
from cass_ray.project.report import STYLE, html_table, kinds_table, places
from cass_ray.translate.diagnostics import DIAGNOSTICS, OTHER
from cass_ray.translate.project.tree import TreeResult
from cass_ray.translate.protocol import Severity

ESTIMATE = (
    f"estimates: {MINUTES_BY_RULES} minute for each construct that the rules port,"
    f" {MINUTES_BY_SEVERITY[Severity.ERROR]} for each place that a person ports,"
    f" {MINUTES_BY_SEVERITY[Severity.WARNING]} for each that a person checks"
)
_LISTED = 10
_HEADS = (
    "file",
    "rules port",
    "person ports",
    "person checks",
    "warp size",
    "inline PTX",
    "PTX by hand",
    "same in HIP",
)


def cost_text(cost: Cost, *, everything: bool = False) -> str:
    """For a terminal: the verdict, what it rests on, the files; all of them if ``everything``."""
    lines = [f"{cost.name}: {cost.verdict}"]
    if not cost.files:
        return lines[0] + "\n"
    lines += [
        f"time       the rules save {cost.hours_by_rules:g} h, a person works"
        f" {cost.hours_by_person:g} h ({ESTIMATE})",
        f"files      {len(cost.files)} of {cost.read} with CUDA; build system:"
        f" {cost.build_system.value}",
        f"libraries  {_libraries(cost)}",
        f"warp size  {cost.warp_size} place(s) that count on 32 lanes want a look",
        f"inline PTX {cost.inline_ptx} statement(s), {cost.ptx_by_person} not rewritten",
    ]
    titles = {item.code: item.title for item in (OTHER, *DIAGNOSTICS)}
    lines += [f"{code}   {number:5}  {titles[code]}" for code, number in cost.kinds.items()]
    listed = cost.files if everything else cost.files[:_LISTED]
    width = max(len("file"), *(len(each.path) for each in listed))
    lines.append("")
    lines.append("file".ljust(width) + "".join(head.rjust(15) for head in _HEADS[1:]))
    lines += [
        each.path.ljust(width)
        + "".join(str(value).rjust(15) for value in each.model_dump(exclude={"path"}).values())
        for each in listed
    ]
    if len(listed) < len(cost.files):
        lines.append(f"… and {len(cost.files) - len(listed)} more: -v shows them")
    return "\n".join(lines) + "\n"


def cost_page(cost: Cost, tree: TreeResult) -> str:
    """The same as one HTML page, with every place that needs a person."""
    title = f"What will porting {html.escape(cost.name)} cost?"
    facts = [
        [
            "time",
            f"the rules save {cost.hours_by_rules:g} h, a person works {cost.hours_by_person:g} h",
        ],
        ["", html.escape(ESTIMATE)],
        ["files", f"{len(cost.files)} of {cost.read} with CUDA"],
        ["build system", cost.build_system.value],
        ["libraries", html.escape(_libraries(cost))],
        ["warp size", f"{cost.warp_size} places that count on 32 lanes want a look"],
        ["inline PTX", f"{cost.inline_ptx} statements, {cost.ptx_by_person} not rewritten"],
    ]
    rows = [
        [f"<code>{html.escape(each.path)}</code>"]
        + [str(value) for value in each.model_dump(exclude={"path"}).values()]
        for each in cost.files
    ]
    commands = html.escape("\n".join(cost.commands))
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>',
            f"<h1>{title}</h1><p>{html.escape(cost.verdict)}</p>",
            html_table(["", ""], facts),
            f"<h2>Commands</h2><pre>{commands}</pre>",
            f"<h2>Kinds</h2>{kinds_table(tree)}",
            f"<h2>Files</h2>{html_table(list(_HEADS), rows)}",
            places(tree),
            "</html>",
        ]
    )


def _libraries(cost: Cost) -> str:
    return ", ".join(f"{name} -> {rocm}" for name, rocm in cost.libraries.items()) or "none"
