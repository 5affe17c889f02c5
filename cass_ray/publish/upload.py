"""Upload of a prepared folder to a hub that speaks Hugging Face's API."""

from __future__ import annotations

from cass_ray.publish.prepare import Prepared
from cass_ray.publish.settings import PublishSettings
from cass_ray.toolchain.errors import ToolMissing


class UploadError(RuntimeError):
    """The hub refused, or could not be reached; the message is its own."""


def upload(prepared: Prepared, settings: PublishSettings) -> str:
    """Create the repository where it is missing, and commit every file at once; the commit's URL.

    The token is huggingface_hub's (``HF_TOKEN`` or a login). Raises :class:`UploadError` and
    :class:`ToolMissing`.
    """
    if settings.repository is None:
        raise UploadError("no repository is named: --repository OWNER/NAME")
    try:
        from huggingface_hub import HfApi
    except ImportError as error:
        raise ToolMissing("huggingface_hub", "pip install huggingface_hub", str(error)) from None
    hub = HfApi(endpoint=settings.endpoint, library_name="cass-ray")
    kind = prepared.kind.hub_type
    try:
        hub.create_repo(
            settings.repository, repo_type=kind, private=settings.private, exist_ok=True
        )
        commit = hub.upload_folder(
            repo_id=settings.repository,
            repo_type=kind,
            folder_path=prepared.folder,
            commit_message=f"{prepared.kind.value}: {len(prepared.files)} files",
        )
    except Exception as error:  # huggingface_hub raises its own, httpx's and OSError
        raise UploadError(f"{settings.repository}: {error}") from error
    return str(commit.commit_url)
