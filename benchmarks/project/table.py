"""The table of a page of projects: what each row's last run came to, and on which day."""

from __future__ import annotations

from pathlib import Path

from benchmarks.project.seen import Results, Seen

_BEGIN, _END = "<!-- last seen: {} -->", "<!-- end of {} -->"


def write_table(results: Results, listed: str, page: Path) -> None:
    """Write the table of the list ``listed`` between its marks in ``page``.

    Raises ``ValueError`` for a page without them.
    """
    rows = [each for each in results.seen if each.list == listed]
    write_between_marks(page, listed, table(rows))


def write_between_marks(page: Path, listed: str, table: str) -> None:
    """Put ``table`` between the marks of ``listed`` in ``page``.

    Raises ``ValueError`` for a page without them.
    """
    text = page.read_text("utf-8")
    begin, end = _BEGIN.format(listed), _END.format(listed)
    head, found, rest = text.partition(begin)
    _, ended, tail = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"{page} has no lines {begin} and {end} for the table")
    page.write_text(f"{head}{begin}\n{table}{end}{tail}", "utf-8")


def table(rows: list[Seen]) -> str:
    """Markdown: the count of each target, and a row for each project and target."""
    lines = []
    for target in sorted({each.target for each in rows}):
        verdicts = [each.verdict for each in rows if each.target == target]
        lines.append(f"{target}: {verdicts.count('passed')} of {len(verdicts)} pass.")
    lines += [
        "",
        "| project | commit | target | verdict | tests | last seen | where | seconds | added "
        "| why not |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for each in rows:
        why = [line for line in each.said.replace("|", "\\|").splitlines() if line.strip()]
        cells = (
            each.project,
            each.commit[:8],
            each.target,
            each.verdict,
            each.tests,
            each.date,
            each.where,
            f"{each.seconds:.0f}",
            str(each.added_lines),
            f"`{why[-1].strip()[:160]}`" if why else "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
