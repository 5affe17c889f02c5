"""``cass translate --server``: a file, or a whole folder as a job, on a ``cass serve``."""

from __future__ import annotations

import io
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import typer
from pydantic import ValidationError

from cass_ray.api.client import Client, ServerError
from cass_ray.api.jobs import JobState, JobStatus
from cass_ray.api.schema import Check, TranslateRequest, TranslateResponse, Verification
from cass_ray.commands.output import file_to_write
from cass_ray.config import explain
from cass_ray.exit_codes import EXIT_FAILED, EXIT_USAGE, fail
from cass_ray.overwriting import write_output
from cass_ray.task import Direction
from cass_ray.translate.project.tree import source_files

BACKWARDS = "rules-hip-to-cuda"


@dataclass(frozen=True)
class Wanted:
    """The options of the command that concern a server."""

    engine: str
    level: str
    check: bool
    repairs: int
    as_json: bool
    overwrite: bool


def translate_remotely(server: str, path: Path, output: Path | None, wanted: Wanted) -> None:
    """Translate ``path`` on ``server``; ends the command on errors."""
    try:
        with Client(server) as client:
            if path.is_dir():
                _folder(client, path, output, wanted)
            else:
                _file(client, path, output, wanted)
    except ServerError as error:
        fail("translate", f"{server}: {error}", EXIT_FAILED)
    except ValidationError as error:
        fail("translate", explain(error, TranslateRequest, str(path)), EXIT_USAGE)
    except (OSError, UnicodeDecodeError) as error:
        fail("translate", error, EXIT_USAGE)


def _file(client: Client, path: Path, output: Path | None, wanted: Wanted) -> None:
    backwards = wanted.engine == BACKWARDS
    answer = client.translate(
        path.read_bytes().decode("utf-8"),
        engine="rules" if backwards else wanted.engine,
        level=wanted.level,
        direction=Direction.HIP_TO_CUDA if backwards else Direction.CUDA_TO_HIP,
        check=Check.COMPILE if wanted.check else Check.NONE,
        repair=wanted.repairs,
    )
    if output is None:
        sys.stdout.write(answer.translation)
    else:
        output = file_to_write(output, path, back=backwards)
        write_output(output, answer.translation, overwrite=wanted.overwrite, inputs=[path])
        if wanted.as_json:
            sys.stdout.write(answer.model_dump_json(indent=2, exclude={"translation"}) + "\n")
    _report(path, answer)
    if answer.verdict.verification is Verification.FAILED:
        raise typer.Exit(EXIT_FAILED)


def _report(path: Path, answer: TranslateResponse) -> None:
    for each in answer.findings:
        advice = f" ({each.advice})" if each.advice else ""
        place = f"{path}:{each.line}:{each.column}"
        sys.stderr.write(f"{place}: {each.severity}: {each.message}{advice}\n")
    compiled = answer.verdict.compile
    if compiled is not None and not compiled.passed:
        sys.stderr.write(f"{compiled.output}\n")
    sys.stderr.write(f"{answer.engine}: {answer.verdict.label}\n")


def _folder(client: Client, path: Path, output: Path | None, wanted: Wanted) -> None:
    if output is None:
        fail("translate", f"{path} is a folder: give -o OUT for the translated tree", EXIT_USAGE)
    check = Check.COMPILE if wanted.check else Check.NONE
    job = client.submit(
        _packed(path), path.resolve().name, check, engine=wanted.engine, repair=wanted.repairs
    )
    try:
        job = client.wait(job.id)
    except KeyboardInterrupt:
        client.cancel(job.id)
        raise
    if job.state is not JobState.DONE:
        fail("translate", f"the job {job.id} is {job.state}: {job.problem}", EXIT_FAILED)
    _unpack(client.result(job.id), output, wanted.overwrite)
    if wanted.as_json:
        sys.stdout.write(job.model_dump_json(indent=2) + "\n")
    _summary(job)


def _summary(job: JobStatus) -> None:
    broken = [file for file in job.files if file.compiled is False]
    for file in broken:
        sys.stderr.write(f"{file.path}: does not compile:\n{file.diagnostic}\n")
    for line in job.left_out:
        sys.stderr.write(f"left out: {line}\n")
    translated = sum(file.action == "translated" for file in job.files)
    sys.stderr.write(f"{len(job.files)} file(s): {translated} translated, job {job.id}\n")
    if broken:
        raise typer.Exit(EXIT_FAILED)


def _packed(root: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in source_files(root):
            archive.write(path, path.relative_to(root).as_posix())
    return packed.getvalue()


def _unpack(data: bytes, output: Path, overwrite: bool) -> None:
    """Write the tree; a name that leads out of it is refused."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            parts = PurePosixPath(name).parts
            if ".." in parts or PurePosixPath(name).is_absolute():
                fail("translate", f"the server's archive holds {name}", EXIT_FAILED)
            target = output.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_output(target, archive.read(name), overwrite=overwrite)
