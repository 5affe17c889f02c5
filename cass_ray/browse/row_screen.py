"""One row of a data set in the browser: both sides next to each other, and ways between them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Footer, Header, Static, TabbedContent, TabPane, TextArea
from textual.widgets.text_area import Selection

from cass_ray.assembly.align import KernelPair, align_kernels
from cass_ray.browse.lines import LineMapping, LinesUnknown, same_line, sides_of
from cass_ray.browse.listings import Listing, amd_listing, sass_listing
from cass_ray.browse.rows import SIDE_BY_SIDE, RowSet, plain

_TITLES = {"source": "Source", "host": "Host", "device": "Device"}


class Pane(TextArea):
    """A text to read: the cursor moves, nothing changes."""

    def __init__(self, text: str, *, id: str) -> None:
        super().__init__(
            _shown(text),
            read_only=True,
            show_line_numbers=True,
            id=id,
            soft_wrap=False,
        )

    @property
    def line(self) -> int:
        """The line of the cursor, from 0."""
        return self.cursor_location[0]

    def show_lines(self, lines: list[int]) -> None:
        """Mark the first run of ``lines`` (from 0) and bring it into view."""
        if not lines:
            return
        last = lines[0]
        while last + 1 in lines:
            last += 1
        end = len(self.document.get_line(last))
        self.selection = Selection((lines[0], 0), (last, end))
        self.scroll_cursor_visible(center=True)


class RowScreen(Screen[None]):
    """Row ``numbers[at]`` of ``part``."""

    CSS = """
    Pane { width: 1fr; }
    #said { dock: bottom; height: 1; padding: 0 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.pop_screen", "back"),
        Binding("n", "step(1)", "next row"),
        Binding("p", "step(-1)", "previous"),
        Binding("k", "kernel", "next kernel"),
        Binding("l", "lines", "same line"),
        Binding("a", "architecture", "architecture"),
        Binding("d", "differences", "differences"),
    ]

    def __init__(self, part: RowSet, numbers: list[int], at: int) -> None:
        super().__init__()
        self._part, self._numbers, self._at = part, numbers, at
        self._row = part.row(numbers[at])
        self._listings = list(_listings(self._row))
        self._kernels = _kernels(self._row)
        self._kernel = -1
        self._sides: tuple[LineMapping, LineMapping] | None = None
        self._architectures: dict[str, str] = {}  # of each listing that is shown
        for column, architecture, _ in self._listings:
            self._architectures.setdefault(column, architecture)

    def compose(self) -> ComposeResult:
        yield Header()
        with TabbedContent(initial="device" if self._row.get("hip_device") else "source"):
            for pair in SIDE_BY_SIDE:
                name = pair[0].partition("_")[2]
                with TabPane(_TITLES[name], id=name), Horizontal():
                    for column in pair:
                        yield Pane(self._row.get(column) or "", id=column)
            with TabPane("Facts", id="facts"):
                yield Pane(_facts(self._row), id="all-facts")
        yield Static(id="said", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        row = self._row
        self.title = plain(row.get("filename")) or plain(row["id"])
        self.sub_title = f"{self._numbers[self._at]} · {plain(row.get('verified'))}"
        self._say(", ".join(pair.name for pair in self._kernels) or "no common kernel")

    def _say(self, text: str) -> None:
        self.query_one("#said", Static).update(plain(text))

    def _pane(self, column: str) -> Pane:
        return self.query_one(f"#{column}", Pane)

    def action_step(self, by: int) -> None:
        """The next or previous row of the table."""
        at = self._at + by
        if 0 <= at < len(self._numbers):
            self.app.switch_screen(RowScreen(self._part, self._numbers, at))

    def action_kernel(self) -> None:
        """Bring the next kernel into view on both sides."""
        if not self._kernels:
            return
        self._kernel = (self._kernel + 1) % len(self._kernels)
        pair = self._kernels[self._kernel]
        self.query_one(TabbedContent).active = "device"
        for column, listing, name in (
            ("cuda_device", self._nvidia, pair.nvidia),
            ("hip_device", self._amd, pair.amd),
        ):
            self._pane(column).show_lines([listing.starts[name]] if name in listing.starts else [])
        self._say(f"kernel {self._kernel + 1} of {len(self._kernels)}: {pair.name}")

    @property
    def _nvidia(self) -> Listing:
        return sass_listing(self._pane("cuda_device").text)

    @property
    def _amd(self) -> Listing:
        return amd_listing(self._pane("hip_device").text)

    def action_architecture(self) -> None:
        """The next architecture's listing in the place of the one that is shown."""
        if len(self._listings) < 2:
            self._say("there is one architecture on each side")
            return
        self._listings.append(self._listings.pop(0))
        column, name, text = self._listings[0]
        self._pane(column).load_text(_shown(text))
        self._architectures[column] = name
        self._sides = None
        self._say(name)

    def action_differences(self) -> None:
        """The source's differences in the place of the HIP source, or that again."""
        pane, hip = self._pane("hip_source"), self._row.get("hip_source") or ""
        self.query_one(TabbedContent).active = "source"
        shown = _shown(hip)
        if pane.text == shown:
            cuda = self._row.get("cuda_source") or ""
            lines = difflib.unified_diff(
                cuda.splitlines(), hip.splitlines(), "CUDA", "HIP", lineterm="", n=2
            )
            shown = _shown("\n".join(lines))
        pane.load_text(shown)

    def action_lines(self) -> None:
        """Show on all sides what became of the line under the cursor."""
        pane = self.focused
        if not isinstance(pane, Pane) or pane.id not in _LINE_PANES:
            self._say("put the cursor into a source or a device listing first")
            return
        if self._sides is None:
            self._say("compiling with line tables …")
            self._find_lines(pane.id, pane.line)
        else:
            self._show_same(self._sides, pane.id, pane.line)

    @work(thread=True, exclusive=True)
    def _find_lines(self, pane: str, line: int) -> None:
        row = {
            **self._row,
            "cuda_arch": [self._architectures.get("cuda_device", "")],
            "hip_arch": self._architectures.get("hip_device", ""),
        }
        try:
            sides = sides_of(row, self._nvidia, self._amd)
        except LinesUnknown as error:
            self.app.call_from_thread(self._say, str(error).partition("\n")[0])
            return
        self._sides = sides
        self.app.call_from_thread(self._show_same, sides, pane, line)

    def _show_same(self, sides: tuple[LineMapping, LineMapping], pane: str, line: int) -> None:
        nvidia, amd = sides
        match pane:
            case "cuda_source":
                cuda = line + 1
            case "cuda_device":
                cuda = nvidia.source_line(line)
            case "hip_source":
                cuda = same_line(amd.source, nvidia.source).get(line + 1, 0)
            case _:
                cuda = same_line(amd.source, nvidia.source).get(amd.source_line(line), 0)
        if not cuda:
            self._say("no line of this file made that")
            return
        hip = same_line(nvidia.source, amd.source).get(cuda, 0)
        places = (nvidia.places(cuda), amd.places(hip))
        self._pane("cuda_source").show_lines([cuda - 1])
        self._pane("hip_source").show_lines([hip - 1] if hip else [])
        self._pane("cuda_device").show_lines(nvidia.listing.lines_of(places[0]))
        self._pane("hip_device").show_lines(amd.listing.lines_of(places[1]))
        self._say(
            f"line {cuda}: {len(places[0])} instructions of Nvidia's, {len(places[1])} of AMD's: "
            f"{nvidia.source.splitlines()[cuda - 1].strip()}"
        )


_LINE_PANES = frozenset({"cuda_source", "hip_source", "cuda_device", "hip_device"})


def _shown(text: str) -> str:
    return plain(text).expandtabs(4)


def _listings(row: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(pane, architecture, text) of each; the two that are shown first come first."""
    first = (row.get("cuda_arch") or [""])[0]
    if row.get("hip_device"):
        yield "hip_device", row.get("hip_arch") or "", row["hip_device"]
    for each in row.get("devices") or []:
        if each["device"]:
            yield "hip_device", each["arch"], each["device"]
    if row.get("cuda_device"):
        yield "cuda_device", first, row["cuda_device"]
    for each in row.get("cuda_device_by_arch") or []:
        if each["arch"] != first:
            yield "cuda_device", each["arch"], each["sass"]


def _kernels(row: dict[str, Any]) -> list[KernelPair]:
    return align_kernels(row.get("cuda_device") or "", row.get("hip_device") or "").pairs


def _facts(row: dict[str, Any]) -> str:
    """Everything but the texts, as JSON."""
    texts = {column for pair in SIDE_BY_SIDE for column in pair}
    texts |= {"opencl_source", "cuda_device_by_arch", "lifted", "devices"}
    kept = {name: value for name, value in row.items() if name not in texts and value is not None}
    evidence = kept.get("evidence")
    if evidence and evidence.get("counters"):
        kept["evidence"] = {**evidence, "counters": json.loads(evidence["counters"])}
    return json.dumps(kept, indent=2, ensure_ascii=False)
