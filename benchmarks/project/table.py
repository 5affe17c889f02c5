"""The table of a page of projects: what each row's last run came to, and on which day."""

from __future__ import annotations

from pathlib import Path

from benchmarks.project.seen import Results

_BEGIN, _END = "<!-- last seen -->", "<!-- end of last seen -->"


def write_table(results: Results, page: Path) -> None:
    """Write the table of ``results`` between the marks of ``page``.

    Raises ``ValueError`` for a page without them.
    """
    text = page.read_text("utf-8")
    start, end = text.find(_BEGIN), text.find(_END)
    if start < 0 or end < start:
        raise ValueError(f"{page} has no lines {_BEGIN} and {_END} for the table")
    page.write_text(f"{text[: start + len(_BEGIN)]}\n{table(results)}{text[end:]}", "utf-8")


def table(results: Results) -> str:
    """Markdown: the count of each target, and a row for each project and target."""
    lines = []
    for target in sorted({each.target for each in results.seen}):
        verdicts = [each.verdict for each in results.seen if each.target == target]
        lines.append(f"{target}: {verdicts.count('passed')} of {len(verdicts)} pass.")
    lines += [
        "",
        "| project | commit | target | verdict | last seen | seconds | lines added | why not |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in results.seen:
        why = each.said.replace("|", "\\|").splitlines()
        cells = (
            each.project,
            each.commit[:8],
            each.target,
            each.verdict,
            each.date,
            f"{each.seconds:.0f}",
            str(each.added_lines),
            f"`{why[-1].strip()[:160]}`" if why else "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
