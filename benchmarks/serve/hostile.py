"""Requests that want to break the service, or to take it from others; each returns what it got."""

from __future__ import annotations

import asyncio
import io
import json
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PATIENCE = 400.0
_HEAD = "#include <cstdio>\n#include <cstdlib>\n__global__ void nothing() {}\n"
"""Only a program with a kernel is run."""


@dataclass
class Target:
    """A running service and its keys."""

    process: subprocess.Popen[str]
    port: int
    keys: Mapping[str, str]
    folder: Path
    """Temporary files, jobs, Ray's session."""
    executables: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @classmethod
    @contextmanager
    def started(
        cls,
        config: Path,
        environment: Mapping[str, str],
        keys: Mapping[str, str],
        folder: Path,
        executables: Path,
    ) -> Iterator[Target]:
        """``cass serve`` until the end of the context."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "cass_ray.cli", "serve"]
        with (folder / "serve.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--port", str(port), "--config", str(config)],
                env=dict(environment),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        assert process.stdout is not None
        if not any(line.startswith("cass-ray serves") for line in process.stdout):
            raise SystemExit(f"cass serve ended: {(folder / 'serve.log').read_text()[-3000:]}")
        try:
            yield cls(process, port, keys, folder, executables)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)

    def head(self, path: str, number: int, *headers: str) -> bytes:
        """A request line and headers with the key of one of the attackers."""
        key = self.keys[f"hostile-{1 + number % 2}"]
        lines = [f"POST {path} HTTP/1.1", "Host: service", f"Authorization: Bearer {key}"]
        return "\r\n".join([*lines, "Content-Type: application/json", *headers, "", ""]).encode()


async def _raw(target: Target, sent: bytes, *, read: bool = True) -> str:
    """The status of what comes back for bytes on a connection of their own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    try:
        writer.write(sent)
        with suppress(ConnectionError):
            await asyncio.wait_for(writer.drain(), _PATIENCE)
        if not read:
            return "hung up"
        line = await asyncio.wait_for(reader.readline(), _PATIENCE)
        return line.split()[1].decode() if line else "closed"
    finally:
        writer.close()


async def _posted(target: Target, number: int, body: bytes, path: str = "/v1/translate") -> str:
    head = target.head(path, number, f"Content-Length: {len(body)}", "Connection: close")
    return await _raw(target, head + body)


def _program(text: str, check: str = "execute") -> Callable[[Target, int], Awaitable[str]]:
    """A program to check; a number in a comment, so that none was seen before."""

    async def attack(target: Target, number: int) -> str:
        body = {"source": f"{_HEAD}{text}\n// {number}\n", "check": check}
        return await _posted(target, number, json.dumps(body).encode())

    return attack


def _body(make: Callable[[], bytes]) -> Callable[[Target, int], Awaitable[str]]:
    async def attack(target: Target, number: int) -> str:
        return await _posted(target, number, make())

    return attack


async def slow_headers(target: Target, number: int) -> str:
    """Ends at the service's limit."""
    return await _raw(target, target.head("/v1/translate", number)[:-2])


async def slow_body(target: Target, number: int) -> str:
    return await _raw(target, target.head("/v1/translate", number, "Content-Length: 100") + b"{")


async def unread_stream(target: Target, number: int) -> str:
    """A stream of events that nobody reads, until the client tires of it."""
    body = json.dumps({"source": _HEAD + "int main() {}\n" * 2000, "stream": True}).encode()
    head = target.head("/v1/translate", number, f"Content-Length: {len(body)}")
    _, writer = await asyncio.open_connection("127.0.0.1", target.port)
    try:
        writer.write(head + body)
        await asyncio.sleep(30)
        return "not read"
    finally:
        writer.close()


async def hang_up(target: Target, number: int) -> str:
    """Asks for a run and is gone."""
    source = f"{_HEAD}int main() {{ for (;;) {{}} }}\n// {number}\n"
    body = json.dumps({"source": source, "check": "execute"}).encode()
    head = target.head("/v1/translate", number, f"Content-Length: {len(body)}")
    return await _raw(target, head + body, read=False)


async def giant_body(target: Target, number: int) -> str:
    """Four times the limit, in pieces, so that no header tells of it."""
    pieces = (b"10000\r\n" + b"x" * 0x10000 + b"\r\n") * 64
    head = target.head("/v1/translate", number, "Transfer-Encoding: chunked")
    return await _raw(target, head + pieces + b"0\r\n\r\n")


def _zip(content: bytes, members: int) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(members):
            archive.writestr(f"{number}.cu", content)
    return data.getvalue()


_ARCHIVE_BOMB = _zip(b"\0" * (8 << 20), 40)
_ARCHIVE_OF_MANY = _zip(b"__global__ void k() {}\n", 2000)


async def archive_bomb(target: Target, number: int) -> str:
    """320 MiB in 320 KB, or 2,000 files."""
    data = _ARCHIVE_BOMB if number % 2 else _ARCHIVE_OF_MANY
    return await _posted(target, number, data, "/v1/jobs?check=compile")


_TEMPLATES = (
    "template <int N> struct A { A<N - 1> a; A<N - 2> b; int x[N]; };\n"
    "template <int N, int M> struct B { static const long v = B<N - 1, M>::v + B<N, M - 1>::v; };\n"
    "template <int M> struct B<0, M> { static const long v = 1; };\n"
    "template <int N> struct B<N, 0> { static const long v = 1; };\n"
    "int main() { return (int)B<800, 800>::v; }"
)
_MACROS = "\n".join(
    ["#define M0 x+x+x+x+x+x+x+x"]
    + [f"#define M{n} " + "+".join([f"M{n - 1}"] * 8) for n in range(1, 9)]
    + ["int main() { int x = 1; return M8; }"]
)

ATTACKS: dict[str, Callable[[Target, int], Awaitable[str]]] = {
    "templates without end": _program(_TEMPLATES, "compile"),
    "macros that grow": _program(_MACROS, "compile"),
    "a file that includes itself": _program("#include __FILE__\nint main() {}", "compile"),
    "a program that crashes": _program("int main() { *(volatile int*)0 = 1; }"),
    "a program that aborts": _program("int main() { abort(); }"),
    "a loop without end": _program("int main() { for (;;) {} }"),
    "a kernel without end": _program(
        "__global__ void k(volatile int* p) { while (!*p) {} }\nint main() { int* p; "
        "cudaMalloc(&p, 4); cudaMemset(p, 0, 4); k<<<64, 256>>>(p); cudaDeviceSynchronize(); }"
    ),
    "output without end": _program('int main() { for (;;) puts("xxxxxxxxxxxxxxxxxxxxxxxx"); }'),
    "all memory": _program(
        "int main() { for (;;) { char* p = (char*)malloc(1 << 20); "
        "for (int i = 0; i < 1 << 20; i += 4096) p[i] = 1; } }"
    ),
    "processes without end": _program("#include <unistd.h>\nint main() { for (;;) fork(); }"),
    "a billion registers": _program(
        '__device__ void f() { asm(".reg .b32 %r<1000000000>;"); }', "none"
    ),
    "malformed JSON": _body(lambda: b'{"source": "int x;", '),
    "nested JSON": _body(lambda: b"[" * 100_000),
    "a million names": _body(lambda: b"{" + b",".join(b'"%d":1' % n for n in range(80_000)) + b"}"),
    "a giant body": giant_body,
    "an archive bomb": archive_bomb,
    "slow headers": slow_headers,
    "a slow body": slow_body,
    "a stream that is not read": unread_stream,
    "a client that hangs up": hang_up,
}
