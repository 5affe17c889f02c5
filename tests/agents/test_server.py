"""``cass mcp`` through the SDK's own client: what tools answer, and what they refuse."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("mcp")

from mcp import Client, MCPError, StdioServerParameters

from cass_ray.agents.server import make_server
from cass_ray.api.keys import BearerGuard, key_digest
from cass_ray.execute.backends.lifted import LiftedBackend
from cass_ray.translate.diagnostics import DIAGNOSTICS
from tests.folders import REPOSITORY

Result = TypeVar("Result")

SUM = """\
#include <cstdio>
#include <cstdlib>
__global__ void add(int *sum) { atomicAdd(sum, static_cast<int>(threadIdx.x)); }
int main(int argc, char **argv) {
    int *device, sum = 0, threads = argc > 1 ? atoi(argv[1]) : 4;
    cudaMalloc(&device, sizeof(int));
    cudaMemcpy(device, &sum, sizeof(int), cudaMemcpyHostToDevice);
    add<<<1, threads>>>(device);
    cudaMemcpy(&sum, device, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\\n", sum);
}
"""

FILE = """\
#include <cstdio>
__global__ void add(int *sum, int by) { *sum += by; }
int main() {
    int *device, first, second;
    if (fscanf(fopen("data", "r"), "%d", &first) != 1 || scanf("%d", &second) != 1) return 1;
    cudaMalloc(&device, sizeof(int));
    cudaMemcpy(device, &first, sizeof(int), cudaMemcpyHostToDevice);
    add<<<1, 1>>>(device, second);
    cudaMemcpy(&first, device, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\\n", first);
}
"""

TOOLS = {"translate", "compile", "run", "verify", "explain", "search_findings", "port_project"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "sum.cu").write_text(SUM)
    (tmp_path / "outside.cu").write_text("int secret;\n")
    (folder / "link.cu").symlink_to(tmp_path / "outside.cu")
    (folder / ".git").mkdir()
    (folder / "linked").symlink_to(".git")
    return folder


def connected(root: Path, work: Callable[[Client], Awaitable[Result]]) -> Result:
    """``work`` with a client of a server for ``root``, in this process."""

    async def run() -> Result:
        async with Client(make_server(root)) as client:
            return await work(client)

    return asyncio.run(run())


def call(root: Path, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool that succeeds."""
    result = connected(root, lambda client: client.call_tool(tool, arguments))
    assert not result.is_error, result.content
    return result.structured_content


def test_tools_say_what_they_take(root: Path) -> None:
    listed = connected(root, lambda client: client.list_tools())
    assert {tool.name for tool in listed.tools} == TOOLS
    for tool in listed.tools:
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema
    reading = {tool.name for tool in listed.tools if tool.annotations.read_only_hint}
    assert reading == TOOLS - {"translate", "port_project"}


def test_translate_writes_only_what_is_not_there(root: Path) -> None:
    made = call(root, "translate", path="sum.cu")
    assert made["complete"]
    assert "hipMalloc(&device, sizeof(int))" in made["source"]
    saved = call(root, "translate", path="sum.cu", save_as="out/sum.hip")
    assert (saved["source"], saved["saved_as"]) == ("", "out/sum.hip")
    assert (root / "out/sum.hip").read_text() == made["source"]
    again = {"path": "sum.cu", "save_as": "out/sum.hip"}
    refused = connected(root, lambda client: client.call_tool("translate", again))
    assert refused.is_error
    assert "exists" in refused.content[0].text
    assert call(root, "translate", **again, overwrite=True)["saved_as"] == "out/sum.hip"


def test_findings_are_found_and_explained(root: Path) -> None:
    text = "void f() {\n  cudaGraphConditionalHandleCreate(0, 0, 0);\n}\n"
    (root / "deep").mkdir()
    (root / "deep/graph.cu").write_text(text)
    found = call(root, "search_findings", severity="error")
    assert (found["files"], found["total"]) == (2, 1)
    [finding] = found["findings"]
    assert (finding["file"], finding["line"]) == ("deep/graph.cu", 2)
    assert found["by_code"] == {finding["code"]: 1}
    assert call(root, "explain", code=finding["code"].lower())["code"] == finding["code"]
    assert call(root, "search_findings", query="no such words")["total"] == 0


def test_documents(root: Path) -> None:
    async def read(client: Client) -> dict[str, str]:
        listed = await client.list_resources()
        names = [str(each.uri) for each in listed.resources] + ["cass://diagnostics/CASS1005"]
        answers = [await client.read_resource(name) for name in names]
        return {name: each.contents[0].text for name, each in zip(names, answers, strict=True)}

    texts = connected(root, read)
    assert texts["cass://glossary"] == (REPOSITORY / "docs/glossary.md").read_text()
    assert texts["cass://diagnostics"] == (REPOSITORY / "docs/diagnostics.md").read_text()
    assert texts["cass://diagnostics/CASS1005"].startswith("## CASS1005\n")
    assert "gfx942: CDNA 3, 64 lanes, runs on the CPU" in texts["cass://targets"]
    for tool in TOOLS:
        assert f"`{tool}`" in texts["cass://skill"]
        assert f"| `{tool}` |" in (REPOSITORY / "docs/agents.md").read_text()


@pytest.fixture
def compilers() -> None:
    if problem := LiftedBackend().problem():
        pytest.skip(problem)


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("compilers")
def test_a_port_from_the_first_look_to_the_proof(root: Path) -> None:
    call(root, "translate", path="sum.cu", save_as="sum.hip")
    made = call(root, "compile", path="sum.hip", arch="gfx1100")
    assert (made["compiled"], made["kernels"]) == (True, ["_Z3addPi"])
    done = call(root, "run", path="sum.hip", arguments=["10"])
    assert (done["verdict"], done["stdout"]) == ("ok", "45\n")
    wanted = {"original": "sum.cu", "inputs": [[], ["33"]], "targets": ["gfx1100"]}
    right = call(root, "verify", **wanted, port="sum.hip")
    target = right["targets"]["gfx1100"]
    assert (right["passed"], target["reference"], target["independent"]) == (
        True,
        "lifted sm_90",
        True,
    )
    text = (root / "sum.hip").read_text()
    (root / "wrong.hip").write_text(text.replace("threadIdx.x)", "threadIdx.x + 1)"))
    assert not call(root, "verify", **wanted, port="wrong.hip")["passed"]
    (root / "bad.hip").write_text("int main() { return nothing; }\n")
    (root / "given").mkdir()
    (root / "given/data").write_text("7")
    (root / "file.cu").write_text(FILE)
    wanted = {"original": "file.cu", "targets": ["gfx1100"], "stdin": "5"}
    assert call(root, "verify", **wanted, files="given")["passed"]
    done = call(root, "run", path="file.cu", files="given", stdin="5")
    assert done["stdout"] == "12\n"  # 7 + 5
    bad = call(root, "compile", path="bad.hip", arch="gfx1100")
    assert not bad["compiled"]
    assert "undeclared identifier 'nothing'" in bad["compiler_output"]


LONG = "x" * 3_000_000
WRONG_PATHS: list[Any] = [
    "../outside.cu",
    "/etc/passwd",
    "link.cu",
    "no/such/file.cu",
    "",
    "a\0b",
    "x" * 501,
    7,
    None,
    ["sum.cu"],
    {"path": "sum.cu"},
    True,
    "sum.cu/..",
    "./",
]
WRONG_CALLS: list[tuple[str, dict[str, Any]]] = [
    *(("compile", {"path": path, "arch": "gfx1100"}) for path in WRONG_PATHS),
    *(("run", {"path": path}) for path in WRONG_PATHS),
    *(("verify", {"original": path}) for path in WRONG_PATHS),
    *(("verify", {"original": "sum.cu", "port": path}) for path in WRONG_PATHS if path != ""),
    *(("translate", {"path": path}) for path in WRONG_PATHS),
    *(("search_findings", {"path": path}) for path in WRONG_PATHS[:12]),
    ("translate", {}),
    ("translate", {"path": "sum.cu", "source": "int x;"}),
    ("translate", {"source": LONG}),
    ("translate", {"path": "sum.cu", "save_as": "../out.hip"}),
    ("translate", {"path": "sum.cu", "save_as": "sum.cu"}),
    *(
        ("translate", {"path": "sum.cu", "save_as": name, "overwrite": True})
        for name in (
            ".git/config",
            ".git/hooks/pre-commit.cu",
            "a/.vscode/tasks.hip",
            ".hidden.cu",
            "linked/x.cu",
            "setup.py",
            "Makefile",
            "CMakeLists.txt",
            "conftest.py",
            "run.sh",
            "sum",
        )
    ),
    ("translate", {"path": "sum.cu", "overwrite": "maybe"}),
    ("translate", {"path": "sum.cu", "unknown": 1}),
    ("compile", {"path": "sum.cu"}),
    ("compile", {"path": "sum.cu", "arch": "gfx11000"}),
    ("compile", {"path": "sum.cu", "arch": ["gfx1100"]}),
    ("run", {"path": "sum.cu", "arch": "sm_90"}),
    ("run", {"path": "sum.cu", "seconds": 0}),
    ("run", {"path": "sum.cu", "seconds": 1e9}),
    ("run", {"path": "sum.cu", "seconds": "soon"}),
    ("run", {"path": "sum.cu", "arguments": "10"}),
    ("run", {"path": "sum.cu", "arguments": ["1"] * 65}),
    ("run", {"path": "sum.cu", "arguments": [["1"]]}),
    ("run", {"path": "sum.cu", "stdin": LONG}),
    ("run", {"path": "sum.cu", "files": ".."}),
    ("run", {"path": "sum.cu", "files": "sum.cu"}),
    ("verify", {"original": "sum.cu", "files": "nowhere"}),
    ("verify", {"original": "sum.cu", "files": ["."]}),
    ("verify", {}),
    ("verify", {"original": "sum.cu", "inputs": [[]] * 17}),
    ("verify", {"original": "sum.cu", "inputs": "1"}),
    ("verify", {"original": "sum.cu", "targets": []}),
    ("verify", {"original": "sum.cu", "targets": ["gfx1030"]}),
    ("verify", {"original": "sum.cu", "targets": ["gfx1100"] * 5}),
    ("explain", {}),
    ("explain", {"code": "CASS9999"}),
    ("explain", {"code": 5.5}),
    ("search_findings", {"limit": 0}),
    ("search_findings", {"severity": "loud"}),
    ("port_project", {}),
    ("port_project", {"folder": ".", "reports": "reports"}),
    ("port_project", {"folder": ".", "reports": ".git/reports"}),
    ("port_project", {"folder": "..", "reports": "reports"}),
    ("port_project", {"folder": "nowhere", "reports": "reports"}),
    ("port_project", {"folder": "https://example.org/a.git", "reports": "reports"}),
    ("no_such_tool", {}),
    ("", {}),
]


def test_malformed_calls_are_errors_and_the_server_lives(root: Path) -> None:
    assert len(WRONG_CALLS) >= 100
    before = sorted(str(path) for path in root.rglob("*"))

    async def attempt(client: Client) -> list[tuple[str, dict[str, Any], str]]:
        accepted = []
        for tool, arguments in WRONG_CALLS:
            try:
                result = await client.call_tool(tool, arguments)
            except MCPError:
                continue
            text = result.content[0].text
            crashed = text == f"Error executing tool {tool}" or "Traceback" in text
            if crashed or not result.is_error:
                accepted.append((tool, arguments, text[:200]))
        assert (await client.call_tool("explain", {"code": "CASS1001"})).is_error is False
        return accepted

    assert connected(root, attempt) == []
    assert sorted(str(path) for path in root.rglob("*")) == before


def test_standard_input_and_output(root: Path) -> None:
    code = "import sys; from cass_ray.commands.mcp import app; app()"
    server = StdioServerParameters(
        command=sys.executable, args=["-c", code, "--root", str(root)], cwd=str(REPOSITORY)
    )

    async def run() -> Any:
        async with Client(server) as client:
            return await client.call_tool("explain", {"code": DIAGNOSTICS[0].code})

    result = asyncio.run(run())
    assert result.structured_content["title"] == DIAGNOSTICS[0].title


def test_http_asks_for_the_token(root: Path) -> None:
    httpx = pytest.importorskip("httpx2")
    server = make_server(root)
    app = BearerGuard(
        server.streamable_http_app(json_response=True, stateless_http=True), key_digest("right")
    )
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    request["params"] = {"name": "explain", "arguments": {"code": "CASS1001"}}
    headers = {"Accept": "application/json, text/event-stream"}

    async def run() -> list[Any]:
        transport = httpx.ASGITransport(app=app)
        async with (
            server.session_manager.run(),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client,
        ):
            return [
                await client.post("/mcp", json=request, headers={**headers, **more})
                for more in (
                    {},
                    {"Authorization": "Bearer wrong"},
                    {"Authorization": "Bearer right"},
                )
            ]

    answers = asyncio.run(run())
    assert [answer.status_code for answer in answers] == [401, 401, 200]
    made = json.loads(answers[2].text)["result"]
    assert made["structuredContent"]["code"] == "CASS1001"
