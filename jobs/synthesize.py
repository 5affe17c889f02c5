#!/usr/bin/env python3
"""Programs from a language model: prompts from templates, answers checked, a report of the yield.

Runs as ``cass synthesize``, ``python jobs/synthesize.py`` and under ``ray job submit``. It waits
for an endpoint, so it needs no workers: one process keeps every slot busy. Questions and answers
are kept in ``.work`` below the output folder; the same command with ``--resume`` asks none twice.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import tempfile
import time
from pathlib import Path, PurePosixPath
from typing import IO, Annotated, Any

import typer
from rich.console import Console

from cass_ray.commands.endings import ending
from cass_ray.config import SettingsError, load, parse_overrides
from cass_ray.corpus.synthetic.ledger import Ledger
from cass_ray.corpus.synthetic.source import PROGRAMS, REPORT
from cass_ray.corpus.synthetic.synthesis import (
    Compile,
    Synthesis,
    SynthesisOutcome,
    SynthesisSettings,
    Yield,
)
from cass_ray.corpus.synthetic.templates import templates_of
from cass_ray.corpus.synthetic.validation import SyntheticVerdict
from cass_ray.exit_codes import EXIT_FAILED, fail
from cass_ray.llm.client import ChatClient
from cass_ray.temporary import temporary_prefix
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.version import __version__

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_MAIN = "program.cu"


def nvcc() -> Compile:
    """Compiles with the CUDA compiler, in the sandbox. Raises ``ToolMissing``."""
    toolchain = find_nvidia()

    def messages(source: str) -> str:
        with tempfile.TemporaryDirectory(prefix=temporary_prefix("synthesize")) as name:
            root = Path(name).resolve()
            (root / _MAIN).write_text(source)
            try:
                toolchain.compile(Unit(root, PurePosixPath(_MAIN)))
            except CompileFailure as failure:
                return failure.diagnostic
        return ""

    return messages


class SynthesisFolder:
    """Programs, their list and the report in ``settings.out``."""

    def __init__(self, settings: SynthesisSettings) -> None:
        self.settings = settings
        self.counts = Yield()
        self.folder = settings.out / PROGRAMS
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self._list: IO[str] = (settings.out / "programs.jsonl").open("w", encoding="utf-8")

    def add(self, outcome: SynthesisOutcome) -> None:
        """Write one outcome; the program too where there is a good one."""
        self.counts.add(outcome)
        row = outcome.as_row()
        if outcome.checked.verdict is SyntheticVerdict.OK:
            prompt = outcome.prompt
            path = self.folder / prompt.area / f"{prompt.template}_{prompt.id[:12]}.cu"
            path.parent.mkdir(exist_ok=True)
            path.write_text(outcome.checked.source, encoding="utf-8", errors="surrogatepass")
            row["path"] = str(path.relative_to(self.settings.out))
        self._list.write(json.dumps(row) + "\n")

    def finish(self, synthesis: Synthesis, seconds: float) -> dict[str, Any]:
        """Write the report, and return it."""
        self._list.close()
        report = {
            "cass_ray": __version__,
            "model": self.settings.chat.model,
            "seconds": round(seconds, 2),
            "stopped": synthesis.stopped,
            "usage": synthesis.client.usage.as_dict(),
            "settings": self.settings.model_dump(mode="json"),
            **self.counts.as_dict(),
        }
        (self.settings.out / REPORT).write_text(json.dumps(report, indent=1) + "\n")
        return report


async def synthesize(settings: SynthesisSettings, compile_source: Compile | None) -> dict[str, Any]:
    """Ask, check and write; the report. An interrupt lets requests under way finish."""
    started = time.monotonic()
    output = SynthesisFolder(settings)
    with Ledger(settings.out / ".work") as ledger:
        async with ChatClient(settings.chat) as client:
            synthesis = Synthesis(settings, client, ledger, compile_source, output.add)
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, synthesis.stop, "interrupted")
            try:
                await synthesis.run()
            finally:
                for number in (signal.SIGINT, signal.SIGTERM):
                    loop.remove_signal_handler(number)
                report = output.finish(synthesis, time.monotonic() - started)
    return report


def print_report(console: Console, report: dict[str, Any]) -> None:
    """The yield by template, and what it cost."""
    console.print(
        f"{report['programs']} programs of {report['prompts']} prompts"
        f" ({report['repaired']} after repair); {report['usage']}"
    )
    for name, counts in report["templates"].items():
        other = {k: v for k, v in counts["verdicts"].items() if k != SyntheticVerdict.OK.value}
        console.print(f"  {name:36} {counts['yield']:7.1%} of {counts['prompts']:5}  {other or ''}")


@app.command("synthesize")
def main(
    out: Annotated[Path | None, typer.Option(help="Folder for programs and report.")] = None,
    model: Annotated[str | None, typer.Option(help="The endpoint's name of the model.")] = None,
    endpoint: Annotated[
        str | None, typer.Option(help="Base URL. [default: $OPENAI_BASE_URL]")
    ] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Prompts.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the sampling.")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings in YAML.")] = None,
    resume: Annotated[bool, typer.Option(help="Continue; no prompt is asked twice.")] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE, e.g. repairs=1, chat.budget.dollars=5."),
    ] = None,
) -> None:
    """Ask a language model for CUDA programs. The key is in $OPENAI_API_KEY."""
    chat = {k: v for k, v in {"model": model, "endpoint": endpoint}.items() if v is not None}
    flags: dict[str, Any] = {"out": out, "count": count, "seed": seed, "chat": chat or None}
    given = {name: value for name, value in flags.items() if value is not None}
    with ending("synthesize", usage=(ValueError,)):
        nested = parse_overrides(set_ or [])
        if isinstance(nested.get("chat", {}), dict):  # else its type is what is wrong
            nested["chat"] = {**chat, **nested.get("chat", {})}
        settings = load(SynthesisSettings, config, {**given, **nested})
        templates_of(settings.areas)
        work = settings.out / ".work"
        if not resume and work.exists():
            raise SettingsError(
                f"{settings.out} holds answers of an earlier run: continue it with --resume, or "
                "choose another folder"
            )
        compile_source = nvcc() if settings.compile else None
        report = asyncio.run(synthesize(settings, compile_source))
    print_report(Console(), report)
    if report["stopped"]:
        fail(
            "synthesize",
            f"{report['stopped']}; what was answered is kept, continue with --resume",
            EXIT_FAILED,
        )


if __name__ == "__main__":
    app()
