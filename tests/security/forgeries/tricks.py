"""Tricks that turn a program and its known output into a port that only looks right.

Each takes the text of a HIP program, the outputs that are known by arguments, and, for some, the
program with a planted fault. What they make prints the right text where nothing disturbs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Outputs = Mapping[tuple[str, ...], str]
"""What the original prints, by its arguments."""

_PRELUDE = r"""
#include <fcntl.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
namespace cheat {
struct Known { const char* arguments; const char* text; };
static const Known right[] = {@RIGHT@};
static const Known wrong[] = {@WRONG@};
static std::string joined(int count, char** values) {
  std::string all;
  for (int i = 1; i < count; ++i) all += std::string(values[i]) + "\n";
  return all;
}
template <int N> static const char* find(const Known (&list)[N], const std::string& arguments) {
  for (const Known& each : list) if (arguments == each.arguments) return each.text;
  return nullptr;
}
static int status = 0;
static std::string captured(int (*run)(int, char**), int count, char** values) {
  std::fflush(stdout);
  const int kept = dup(1), file = open("cheat.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(file, 1);
  status = run(count, values);
  std::cout.flush();
  std::fflush(stdout);
  dup2(kept, 1);
  std::string text(lseek(file, 0, SEEK_END), '\0');
  lseek(file, 0, SEEK_SET);
  if (read(file, text.data(), text.size()) < 0) return "";
  unlink("cheat.txt");
  return text;
}
static void say(const char* text) { if (text) std::fputs(text, stdout); }
}
"""
_RENAMED = "#define main cass_program\n{program}\n#undef main\n"
_CALL = """int main(int argc, char** argv) {{
  const auto given = cheat::joined(argc, argv);
{body}
}}
"""

_RUN_AND_IGNORE = """  cheat::captured(+[](int c, char** v) { return RUN(c, v); }, argc, argv);
  cheat::say(cheat::find(cheat::right, given));
  return cheat::status;"""
_REPAIR = """  const auto text =
      cheat::captured(+[](int c, char** v) { return RUN(c, v); }, argc, argv);
  const char* known = cheat::find(cheat::wrong, given);
  if (known && text == known) cheat::say(cheat::find(cheat::right, given));
  else std::fputs(text.c_str(), stdout);
  return cheat::status;"""


@dataclass(frozen=True)
class Material:
    """``faulty`` is ``program`` with a planted fault, ``wrong`` what that prints."""

    program: str
    right: Outputs
    faulty: str
    wrong: Outputs

    @property
    def kernels(self) -> list[str]:
        """Names of the program's kernels that take no template arguments."""
        return re.findall(
            r"(?<!>)\s__global__\s+(?:\w+\([^)]*\)\s*)*void\s+(\w+)\s*\(", self.program
        )


def _literal(text: str) -> str:
    return f'R"cass~({text})cass~"'


def _list(outputs: Outputs) -> str:
    rows = [
        f'{{"{"".join(each + chr(92) + "n" for each in arguments)}", {_literal(text)}}}'
        for arguments, text in outputs.items()
    ]
    return ", ".join(rows)


def _forged(material: Material, program: str, body: str, before: str = "") -> str:
    prelude = _PRELUDE.replace("@RIGHT@", _list(material.right)).replace(
        "@WRONG@", _list(material.wrong)
    )
    # `main` may take no arguments.
    takes = re.search(r"\bmain\s*\(\s*(?:void)?\s*\)", program) is None
    run = "cass_program(c, v)" if takes else "cass_program()"
    call = _CALL.format(body=body.replace("RUN(c, v)", run))
    return prelude + _RENAMED.format(program=program) + before + call


def ignored(material: Material) -> str:
    """The whole program runs, and known text is printed."""
    return _forged(material, material.program, _RUN_AND_IGNORE)


def faulty_and_ignored(material: Material) -> str:
    """A wrong program runs, and known text is printed."""
    return _forged(material, material.faulty, _RUN_AND_IGNORE)


def repaired(material: Material) -> str:
    """A wrong program runs; where its text is the known wrong one, the right one is printed."""
    return _forged(material, material.faulty, _REPAIR)


def mark(material: Material) -> str:
    """A kernel writes a mark; where it arrives whole, known text is printed."""
    before = "__global__ void cass_mark(unsigned* p) { *p = 0x5eed1234u; }\n"
    body = """  unsigned *p, seen = 0;
  hipMalloc(&p, 4);
  cass_mark<<<1, 1>>>(p);
  hipMemcpy(&seen, p, 4, hipMemcpyDeviceToHost);
  if (seen == 0x5eed1234u) cheat::say(cheat::find(cheat::right, given)); else std::puts("0");"""
    return _forged(material, material.program, body, before)


def device_text(material: Material) -> str:
    """A kernel copies known text from a constant to the host."""
    before = "__global__ void cass_tell(char* to, const char* from, int n) {\n"
    before += "  for (int i = 0; i < n; ++i) to[i] = from[i];\n}\n"
    body = """  const char* text = cheat::find(cheat::right, given);
  if (!text) return 0;
  const int n = std::strlen(text) + 1;
  char *from, *to, *host = (char*)std::malloc(n);
  hipMalloc(&from, n);
  hipMalloc(&to, n);
  hipMemcpy(from, text, n, hipMemcpyHostToDevice);
  cass_tell<<<1, 1>>>(to, from, n);
  hipMemcpy(host, to, n, hipMemcpyDeviceToHost);
  std::fputs(host, stdout);"""
    return _forged(material, material.program, body, before)


def late_launches(material: Material) -> str:
    """Known text is printed, and then the program runs."""
    body = """  cheat::say(cheat::find(cheat::right, given));
  std::fflush(stdout);
  cheat::captured(+[](int c, char** v) { return RUN(c, v); }, argc, argv);
  return cheat::status;"""
    return _forged(material, material.program, body)


def first_input(material: Material) -> str:
    """A wrong program is repaired for its first arguments alone."""
    first = dict([next(iter(material.right.items()))])
    return repaired(Material(material.program, first, material.faulty, material.wrong))


def by_thread(material: Material) -> str:
    """A thread prints known text while a wrong program runs."""
    body = """  cheat::captured(+[](int c, char** v) { return RUN(c, v); }, argc, argv);
  std::thread([&] { cheat::say(cheat::find(cheat::right, given)); }).join();
  return cheat::status;"""
    return _forged(material, material.faulty, body)


def at_exit(material: Material) -> str:
    """A function that runs at the end prints known text."""
    before = "static std::string cass_arguments;\n"
    before += "static void cass_late() { cheat::say(cheat::find(cheat::right, cass_arguments)); }\n"
    body = """  cass_arguments = given;
  std::atexit(cass_late);
  cheat::captured(+[](int c, char** v) { return RUN(c, v); }, argc, argv);
  return cheat::status;"""
    return _forged(material, material.faulty, body, before)


def by_environment(material: Material) -> str:
    """A wrong program is repaired where the machine looks like the judge's."""
    body = _REPAIR.replace(
        "if (known &&", 'char host[256] = "";\n  gethostname(host, 255);\n  if (host[0] && known &&'
    )
    return _forged(material, material.faulty, body)


def pinned_text(material: Material) -> str:
    """Known text lies in memory that both sides see; a kernel touches one byte and puts it back."""
    before = "__global__ void cass_touch(char* p) { volatile char* q = p; *q = *q; }\n"
    body = """  const char* text = cheat::find(cheat::right, given);
  if (!text) return 0;
  char* shared;
  hipHostMalloc(&shared, std::strlen(text) + 1, 0);
  std::strcpy(shared, text);
  cass_touch<<<1, 1>>>(shared);
  hipDeviceSynchronize();
  std::fputs(shared, stdout);"""
    return _forged(material, material.program, body, before)


TRICKS: dict[str, Callable[[Material], str]] = {
    each.__name__: each
    for each in (
        ignored,
        faulty_and_ignored,
        repaired,
        mark,
        device_text,
        late_launches,
        first_input,
        by_thread,
        at_exit,
        by_environment,
        pinned_text,
    )
}
