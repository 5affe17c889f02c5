"""Stands in a compiler's place while a project is built: writes down the command, makes what the
compiler would make empty, and succeeds. What a build system only tries is compiled for real.

A program by itself, for any Python 3: it runs in the sandbox under the names of compilers.
``real.json`` beside it names the real ones; ``CASS_RECORD`` is the file that commands go to.
"""

import json
import os
import subprocess
import sys
from typing import Any

TRIALS = (
    "conftest",
    "CMakeFiles/CMakeTmp",
    "CMakeScratch",
    "CompilerId",
    "CMakeTryCompile",
    "TryCompile",
    "__cmake_determine_cuda",
    "meson-private",
    "sanitycheck",
    "config.tests",
)
SOURCES = (".cu", ".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".hip")
ARCHIVERS = ("ar", "ranlib", "strip")
ASKS = ("--version", "-v", "-V", "-dumpversion", "-dumpmachine", "-dumpfullversion", "--help", "-E",
        "-print-search-dirs", "-print-prog-name=ld", "-###", "--dryrun", "-print-multiarch",
        "-print-file-name=", "--list-gpu-code", "--list-gpu-arch")  # fmt: skip
OPTION_FILES = ("--options-file", "-optf")


def main() -> None:
    here = os.path.dirname(os.path.realpath(__file__))
    with open(os.path.join(here, "real.json")) as file:
        settings = json.load(file)
    name = os.path.basename(sys.argv[0])
    arguments = expanded(sys.argv[1:])
    real = settings["programs"].get(name)
    if real is None:
        sys.exit(f"{name}: not on this machine")
    if is_trial(arguments):
        run_real(name, real, arguments, settings)
    if name in ARCHIVERS:
        make_archive(name, arguments)
        return
    if any(word in ("-M", "-MM", "--generate-dependencies") for word in arguments):
        make_empty(value_of(arguments, "-o"))
        make_dependencies(value_of(arguments, "-MF"))
        return
    sources = [word for word in arguments if word.endswith(SOURCES)]
    if not sources and value_of(arguments, "-o") is None and "-c" not in arguments:
        run_real(name, real, arguments, settings)
    if any(word in ASKS or word.startswith("-print-") for word in arguments):
        run_real(name, real, arguments, settings)
    if sources:
        note(name, arguments, sources)
    for path in outputs(arguments, sources):
        make_empty(path)
    make_dependencies(value_of(arguments, "-MF"))


def expanded(arguments: "list[str]", depth: int = 0) -> "list[str]":
    """Arguments with files of arguments read: ``@FILE``, nvcc's ``--options-file FILE``."""
    done: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in OPTION_FILES:
            paths = next(words, "").split(",")
        elif word.startswith(tuple(option + "=" for option in OPTION_FILES)):
            paths = word.split("=", 1)[1].split(",")
        elif word.startswith("@") and os.path.isfile(word[1:]):
            paths = [word[1:]]
        else:
            done.append(word)
            continue
        for path in paths:
            if depth < 4:
                done += expanded(words_of(path), depth + 1)
    return done


def words_of(path: str) -> "list[str]":
    import shlex

    try:
        with open(path, errors="replace") as file:
            return shlex.split(file.read(1 << 20))
    except (OSError, ValueError):
        return []


def is_trial(arguments: "list[str]") -> bool:
    text = " ".join([os.getcwd(), *arguments])
    return any(word in text for word in TRIALS)


def run_real(name: str, real: str, arguments: "list[str]", settings: "dict[str, Any]") -> None:
    environment = dict(os.environ, PATH=settings["path"])
    command = [real, *sys.argv[1:]]
    if name == "nvcc":
        command += settings["nvcc_options"]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        # CMake takes the toolkit's folder from what nvcc says.
        old, new = (settings[key].encode() for key in ("toolkit", "shown_toolkit"))
        sys.stdout.buffer.write(done.stdout.replace(old, new))
        sys.stderr.buffer.write(done.stderr.replace(old, new))
        sys.stdout.flush()
        sys.exit(done.returncode)
    if "-c" not in arguments and "-E" not in arguments and name not in ARCHIVERS:
        command.append("-Wl,--allow-shlib-undefined")
    os.execve(real, command, environment)


def note(name: str, arguments: "list[str]", sources: "list[str]") -> None:
    entry = {"compiler": name, "directory": os.getcwd(), "arguments": arguments, "sources": sources}
    descriptor = os.open(os.environ["CASS_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, (json.dumps(entry) + "\n").encode())
    os.close(descriptor)


def value_of(arguments: "list[str]", option: str) -> "str | None":
    for index, word in enumerate(arguments):
        if word == option and index + 1 < len(arguments):
            return arguments[index + 1]
        if word.startswith(option + "="):
            return word.split("=", 1)[1]
        if option in ("-o", "-MF") and word.startswith(option) and len(word) > len(option):
            return word[len(option) :]
    return None


def outputs(arguments: "list[str]", sources: "list[str]") -> "list[str]":
    output = value_of(arguments, "-o") or value_of(arguments, "--output-file")
    if output is not None:
        return [output]
    if any(word in ("-fsyntax-only", "-E") for word in arguments):
        return []
    stems = [os.path.splitext(os.path.basename(source))[0] for source in sources]
    for option, ending in (("-c", ".o"), ("-dc", ".o"), ("-ptx", ".ptx"), ("-cubin", ".cubin"),
                           ("-fatbin", ".fatbin"), ("-S", ".s")):  # fmt: skip
        if option in arguments:
            return [stem + ending for stem in stems]
    return ["a.out"] if sources else []


def make_archive(name: str, arguments: "list[str]") -> None:
    if name == "ar":
        for word in arguments[1:]:
            if word.endswith((".a", ".lib")):
                make_empty(word)
                return


def make_dependencies(path: "str | None") -> None:
    if path is not None:
        make_empty(path)


def make_empty(path: "str | None") -> None:
    if path is None or path in ("-", "/dev/null"):
        return
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "w"):
        pass
    os.chmod(path, 0o755)


if __name__ == "__main__":
    main()
