"""Write a document: ``report.html``, ``report.json``, ``figures/``."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cass_ray.analysis.document import Column, Document, Figure, Section
from cass_ray.analysis.settings import INSTALL_ANALYSIS
from cass_ray.toolchain.errors import ToolMissing

if TYPE_CHECKING:
    import jinja2


def write(document: Document, out: Path, *, images: bool, done: Callable[[str], None]) -> Path:
    """The page; it holds everything and needs no network. ``done`` hears of each finished file.

    Raises :class:`ToolMissing`.
    """
    out.mkdir(parents=True, exist_ok=True)
    numbers = document.model_dump(mode="json", exclude={"sections": {"__all__": {"figures"}}})
    _replace(out / "report.json", json.dumps(numbers, indent=1) + "\n")
    done("report.json")
    if images:
        for section in document.sections:
            for figure in section.figures:
                _draw(figure, out / "figures")
                done(f"figures/{figure.key}")
    page = out / "report.html"
    _replace(page, render(document))
    done("report.html")
    return page


def render(document: Document) -> str:
    """The page as HTML. Raises :class:`ToolMissing`."""
    specifications = {
        figure.key: figure.spec for section in document.sections for figure in section.figures
    }
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            document=document,
            specifications=json.dumps(specifications).replace("<", "\\u003c"),
            vega=_vega().replace("</script", "<\\/script"),
            style=_resource("report.css"),
            script=_resource("report.js"),
        )
    )


def _vega() -> str:
    """Vega, Vega-Lite and vega-embed as one script that needs nothing else."""
    bundle = _converter().javascript_bundle
    return str(bundle())  # the package's stub has no defaults


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise ToolMissing("vl-convert-python", INSTALL_ANALYSIS, str(error)) from None
    return vl_convert


def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("cass_ray.analysis", "report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["cell"] = shown
    environment.filters["number"] = lambda value: shown(value, Column(name="", digits=3))
    environment.filters["has_something"] = has_something
    environment.filters["longest_word"] = longest_word
    return environment


def has_something(section: Section) -> bool:
    """Whether there is anything to show beyond the heading."""
    return bool(section.text or section.tables or section.figures or section.numbers)


def longest_word(value: Any) -> int:
    """Characters of the longest word of a cell: a table may break only very long ones."""
    return max(map(len, str(value).split()), default=0)


def shown(value: Any, column: Column) -> str:
    """A cell as text: shares in percent, thousands apart, a dash for what is not known."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if column.unit == "%":
        return f"{100 * value:,.{column.digits or 0}f}%"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.{2 if column.digits is None else column.digits}f}"


def _draw(figure: Figure, folder: Path) -> None:
    converter = _converter()
    folder.mkdir(parents=True, exist_ok=True)
    specification = {"title": figure.title, "background": "white", **figure.spec}
    (folder / f"{figure.key}.svg").write_text(converter.vegalite_to_svg(specification), "utf-8")
    (folder / f"{figure.key}.png").write_bytes(converter.vegalite_to_png(specification, scale=2))


def _resource(name: str) -> str:
    return files("cass_ray.analysis.report").joinpath(name).read_text("utf-8")


def _replace(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, "utf-8")
    part.replace(path)
