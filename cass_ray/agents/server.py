"""The server of the Model Context Protocol: :class:`Tools` and documents, by the official SDK."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from cass_ray.agents.tools import EXPECTED, Tools
from cass_ray.agents.workspace_root import WorkspaceRoot
from cass_ray.architectures import AMD_TARGETS, NVIDIA_ARCHITECTURES
from cass_ray.printable import printable_text
from cass_ray.translate.diagnostics import documentation
from cass_ray.version import __version__

INSTRUCTIONS = """\
cass-ray ports CUDA programs to AMD and proves the port right, without any GPU. The usual way:
`search_findings` to see what needs a hand, `translate` (or write HIP yourself), `compile`, `verify`
against the original on several inputs and on gfx1100 and gfx942. For a folder with a build system:
`port_project`. Paths are relative to the workspace. Programs run in a sandbox without a network.
"""

_SKILL = Path(__file__).parent / "skill" / "cass-ray" / "SKILL.md"
_GLOSSARY = Path(__file__).parent / "glossary.md"  # a link to the one of the documentation


def make_server(root: Path, jobs: int = 1) -> MCPServer:
    """A server for the workspace ``root``."""
    tools = Tools(WorkspaceRoot(root), jobs)
    reading = (tools.compile, tools.run, tools.verify, tools.explain, tools.search_findings)
    writing = (tools.translate, tools.port_project)
    server: MCPServer = MCPServer(
        "cass-ray",
        title="cass-ray: CUDA to AMD",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        tools=[
            *(_tool(method, reads_only=True) for method in reading),
            *(_tool(method, reads_only=False) for method in writing),
        ],
    )
    _add_documents(server)
    return server


def _tool(method: Callable[..., Any], *, reads_only: bool) -> Tool:
    """``method`` as a tool that refuses arguments it does not know, instead of leaving them out."""

    @functools.wraps(method)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except EXPECTED as error:
            raise ToolError(printable_text(str(error))) from error

    tool = Tool.from_function(
        call,
        annotations=ToolAnnotations(
            read_only_hint=reads_only, destructive_hint=not reads_only, open_world_hint=False
        ),
    )
    model = tool.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    tool.parameters = model.model_json_schema(by_alias=True)
    return tool


def _add_documents(server: MCPServer) -> None:
    @server.resource("cass://glossary", mime_type="text/markdown")
    def glossary() -> str:
        """The words of cass-ray, each with one meaning."""
        return _GLOSSARY.read_text("utf-8")

    @server.resource("cass://diagnostics", mime_type="text/markdown")
    def diagnostics() -> str:
        """Every diagnostic: what it says, why, and how it is settled."""
        return documentation()

    @server.resource("cass://diagnostics/{code}", mime_type="text/markdown")
    def diagnostic(code: str) -> str:
        """One diagnostic, by its number."""
        _, *sections = documentation().split("\n## ")
        for section in sections:
            if section.startswith(f"{code.upper()}\n"):
                return f"## {section}"
        raise ResourceNotFoundError(f"no diagnostic {code}")

    @server.resource("cass://targets", mime_type="text/markdown")
    def targets() -> str:
        """The processors that programs can be compiled for, and which of them run here."""
        lines = [f"- {name}: Nvidia" for name in NVIDIA_ARCHITECTURES]
        for target in AMD_TARGETS:
            widths = " or ".join(map(str, target.wave_widths))
            runs = ", runs on the CPU" if target.emulated else ""
            lines.append(f"- {target.name}: {target.family}, {widths} lanes{runs}")
        return "\n".join(lines) + "\n"

    @server.resource("cass://skill", mime_type="text/markdown")
    def skill() -> str:
        """How to port with these tools, as a skill for agents."""
        return _SKILL.read_text("utf-8")
