"""The paper's figures of its data set beside this one's."""

from __future__ import annotations

from importlib.resources import files

import yaml
from pydantic import TypeAdapter

from cass_ray.analysis.collected import Collected
from cass_ray.analysis.document import Cell, Column, FigureTable, Section
from cass_ray.config import StrictModel
from cass_ray.dataset.row import Origin, Stage


class Published(StrictModel):
    """A figure of the paper."""

    key: str
    name: str
    unit: str = ""
    published: Cell
    source: str


def published(data: Collected) -> Section:
    """Each published figure with ours, measured in the same way."""
    text = files("cass_ray.analysis").joinpath("published.yaml").read_text("utf-8")
    entries = TypeAdapter(list[Published]).validate_python(yaml.safe_load(text))
    ours = measured(data)
    return Section(
        key="published",
        title="Beside the CASS paper",
        text="Published: as the paper's text says (arXiv 2505.16968). Measured: of this data set.",
        tables=[
            FigureTable(
                key="published",
                title="Published and measured",
                caption=f"N = {data.pairs:,} pairs here, 70,694 there.",
                columns=[
                    Column(name="figure"),
                    Column(name="published", digits=3),
                    Column(name="measured here", digits=3),
                    Column(name="where it is published"),
                ],
                rows=[
                    [each.name, each.published, ours.get(each.key), each.source] for each in entries
                ],
            )
        ],
    )


def measured(data: Collected) -> dict[str, Cell]:
    """Our figures by the keys of ``published.yaml``."""
    counts = data.rows["origin"].value_counts()
    result: dict[str, Cell] = {
        "pairs": data.pairs,
        "pairs of generated programs": int(counts.get(Origin.SYNTHETIC.value, 0)),
        "pairs from repositories": int(counts.get(Origin.REPOSITORY.value, 0)),
        "pairs from OpenCL": int(counts.get(Origin.OPENCL.value, 0)),
        "domains": int(data.rows["domain"].nunique()),
        "executed": int((data.rows["verified"] == "executed").sum()),
        "nvidia architectures": int(
            data.texts.loc[data.texts["vendor"].eq("CUDA"), "target"].replace("", None).nunique()
        ),
    }
    lost = data.rejects["stage"].eq(Stage.TRANSLATE.value).sum()
    late = (Stage.COMPILE_NVIDIA, Stage.COMPILE_AMD, Stage.ALIGN, Stage.EXECUTE, Stage.SELECT)
    reached = data.pairs + data.rejects["stage"].isin([each.value for each in late]).sum() + lost
    result["translated"] = float((reached - lost) / reached) if reached else None
    for origin, ratio in _line_ratios(data).items():
        result[f"ratio {origin}"] = ratio
    if len(data.similarities):
        means = data.similarities.groupby("level")["chrf"].mean().sort_values(ascending=False)
        result["chrf order"] = ", ".join(map(str, means.index))
    return result


def _line_ratios(data: Collected) -> dict[str, float]:
    """Mean lines of HIP's device assembly for one line of CUDA's, by origin."""
    device = data.texts[data.texts["level"] == "device"].drop_duplicates(["row", "vendor"])
    lines = device.pivot(index="row", columns="vendor", values="lines").dropna()
    if not {"CUDA", "HIP"} <= set(lines.columns):
        return {}
    origin = data.rows["origin"].iloc[lines.index].to_numpy()
    means = lines.groupby(origin).mean()
    return {str(name): float(row["HIP"] / row["CUDA"]) for name, row in means.iterrows()}
