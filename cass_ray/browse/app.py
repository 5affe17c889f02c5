"""The browser's first screen: rows of a data set, narrowed down by a filter."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, Header, Input, Static
from textual.worker import get_current_worker

from cass_ray.browse.filters import FilterError, RowFilter, read_filter
from cass_ray.browse.row_screen import RowScreen
from cass_ray.browse.rows import NotFoundError, RowSet, cell

COLUMNS = (
    "filename",
    "origin",
    "domain",
    "kernels",
    "cuda_device_tokens",
    "hip_device_tokens",
    "verified",
)
REJECT_COLUMNS = ("filename", "origin", "stage", "reason", "diagnostic")
MOST_ROWS = 5000
"""Rows in the table; a filter finds the others."""


class DatasetBrowser(App[None]):
    """Rows of the data set in ``directory``; raises ``NotFoundError`` where there is none."""

    TITLE = "cass inspect"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #filter { dock: top; }
    #status { dock: bottom; height: 1; padding: 0 1; color: $text-muted; }
    #status.problem { color: $text-error; }
    DataTable { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter"),
        Binding("r", "other_part", "pairs/rejects"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(self, directory: Path | str, rejects: bool = False) -> None:
        super().__init__()
        self._directory = directory
        self._rejects = rejects
        self._part = RowSet.open(directory, rejects)
        self._filter = RowFilter()
        self._found: list[int] = []
        """Numbers of the rows in the table."""

    def compose(self) -> ComposeResult:
        yield Header()
        yield Input(placeholder='filter: words, domain=graphics, cuda_source:"shfl"', id="filter")
        yield DataTable(cursor_type="row", zebra_stripes=True)
        yield Static(id="status")
        yield Footer()

    def on_mount(self) -> None:
        self._table.focus()
        self._show()

    @property
    def _table(self) -> DataTable[Any]:
        return self.query_one(DataTable)

    def _say(self, text: str, *, problem: bool = False) -> None:
        status = self.query_one("#status", Static)
        status.set_class(problem, "problem")
        status.update(Text(text))

    def action_filter(self) -> None:
        self.query_one(Input).focus()

    def action_other_part(self) -> None:
        """Show the rejects in the place of the pairs, or back."""
        try:
            self._part = RowSet.open(self._directory, not self._rejects)
        except NotFoundError as error:
            self._say(str(error), problem=True)
            return
        self._rejects = not self._rejects
        self._filter = RowFilter()
        self.query_one(Input).value = ""
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Filter, and leave the input where that worked."""
        try:
            self._filter = read_filter(event.value, self._part.schema)
        except FilterError as error:
            self._say(str(error), problem=True)
            return
        self._table.focus()
        self._show()

    def _show(self) -> None:
        self._say("reading …")
        self._find(self._part, self._filter)

    @work(thread=True, exclusive=True)
    def _find(self, part: RowSet, condition: RowFilter) -> None:
        worker = get_current_worker()
        columns = list(REJECT_COLUMNS if part.name == "rejects" else COLUMNS)
        matches, total = part.matching(condition, MOST_ROWS)
        rows = part.some(matches, columns)
        if not worker.is_cancelled:
            self.call_from_thread(self._fill, columns, matches, rows, total)

    def _fill(
        self, columns: list[str], numbers: list[int], rows: list[dict[str, Any]], total: int
    ) -> None:
        table = self._table
        table.clear(columns=True)
        table.add_columns("#", *(name.replace("_device", "").replace("_", " ") for name in columns))
        for number, row in zip(numbers, rows, strict=True):
            table.add_row(str(number), *(cell(name, value) for name, value in row.items()))
        self._found = numbers
        name = self._part.name
        shown = f", the first {len(numbers)} here" if total > len(numbers) else ""
        self._say(f"{total} of {self._part.rows} {name}{shown} in {self._directory}")

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        self.push_screen(RowScreen(self._part, self._found, event.cursor_row))
