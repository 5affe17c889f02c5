from __future__ import annotations

import pytest
import typer

from cass_ray.commands.endings import ending
from cass_ray.config import SettingsError
from cass_ray.overwriting import WouldOverwriteError
from cass_ray.storage.errors import StorageError
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox.isolation import IsolationUnavailableError


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SettingsError("bad key"), 2, "cass try: bad key\n"),
        (WouldOverwriteError("it is there"), 2, "cass try: it is there\n"),
        (FileNotFoundError("no file"), 2, "cass try: no file\n"),
        (ToolMissing("nvcc", "install it"), 3, "nvcc"),
        (IsolationUnavailableError("no bwrap"), 3, "cass try: no bwrap\n"),
        (StorageError("full"), 1, "cass try: full\n"),
        (KeyboardInterrupt(), 130, "cass try: interrupted; rows are kept\n"),
        (EOFError("x"), 1, "cass try: Ray ended; rows are kept\n"),
    ],
)
def test_each_kind_of_error_has_its_exit_code_of_the_documentation(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        pytest.raises(typer.Exit) as ended,
        ending(
            "try",
            usage=(FileNotFoundError,),
            failed=(StorageError,),
            kept="rows are kept",
            lost=lambda error: "Ray ended" if isinstance(error, EOFError) else "",
        ),
    ):
        raise error
    assert ended.value.exit_code == code
    assert said in capsys.readouterr().err


def test_other_errors_and_exits_pass() -> None:
    with pytest.raises(ZeroDivisionError), ending("try", usage=(OSError,)):
        raise ZeroDivisionError
    with pytest.raises(KeyboardInterrupt), ending("try"):
        raise KeyboardInterrupt
    with pytest.raises(typer.Exit) as ended, ending("try", lost=lambda error: "Ray ended"):
        raise typer.Exit(4)
    assert ended.value.exit_code == 4


def test_storage_that_refuses_is_usage(capsys: pytest.CaptureFixture[str]) -> None:
    exceptions = pytest.importorskip("botocore.exceptions")
    for error, said in (
        (StorageError("gs://b: Please install gcsfs"), "cass try: gs://b: Please install gcsfs\n"),
        (exceptions.NoCredentialsError(), "Unable to locate credentials: check the URL"),
    ):
        with pytest.raises(typer.Exit) as ended, ending("try"):
            raise error
        assert ended.value.exit_code == 2
        assert said in capsys.readouterr().err
