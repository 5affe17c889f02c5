from pathlib import Path

import pytest

from cass_ray.cache import ContentCache, digest
from cass_ray.pipeline.results import result_cache
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.storage.errors import StorageError

KEY = digest(["program", "flags"])


def test_settings_say_which_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASS_RESULTS", str(tmp_path / "node"))
    settings = BuildSettings(sources=["shipped"], out=tmp_path)
    assert type(result_cache(settings)) is ContentCache
    assert result_cache(settings.model_copy(update={"cache": False})) is None
    shared = result_cache(settings.model_copy(update={"shared_results": f"file://{tmp_path}/all"}))
    assert shared is not None
    shared.put(KEY, b"result")
    assert (tmp_path / "all" / KEY[:2] / KEY).exists()
    assert ContentCache(tmp_path / "node").get(KEY) == b"result"
    with pytest.raises(StorageError, match="nonsense"):
        result_cache(settings.model_copy(update={"shared_results": "nonsense://x"}))
