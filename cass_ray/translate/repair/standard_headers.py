"""The header of the standard library that a name in an error wants: clang's words and GCC's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_QUOTE = "['‘’]"
_UNDECLARED = re.compile(
    r"use of undeclared identifier '(?:std::)?(\w+)'|unknown type name '(\w+)'"
    r"|no (?:member|type|template) named '(\w+)' in namespace 'std'"
    r"|no matching function for call to '(\w+)'"
    r"|implicit instantiation of undefined template 'std::(\w+)<"
    # GCC's.
    rf"|{_QUOTE}(\w+){_QUOTE} (?:is not a member of|in namespace) {_QUOTE}std{_QUOTE}"
    rf"|{_QUOTE}(?:std::)?(\w+){_QUOTE} (?:was not declared in this scope|has not been declared"
    r"|does not name a (?:template )?type)"
    rf"|{_QUOTE}(?:class |struct )?std::(\w+)<[^\n]{{0,999}}has incomplete type"
)
_TOLD = re.compile(rf"is defined in header {_QUOTE}(<[\w./]+>){_QUOTE}")
"""GCC's note, where it knows the header itself."""
_HEADERS = {
    "cstdio": "printf fprintf sprintf snprintf puts FILE fopen fclose stderr stdout",
    "cstdlib": "malloc free exit atoi atof rand srand abs EXIT_FAILURE EXIT_SUCCESS getenv qsort",
    "cstring": "memcpy memset memcmp strlen strcmp strncmp strcpy strncpy strcat strstr memmove",
    "cassert": "assert",
    "cctype": "isspace isdigit isalpha isalnum tolower toupper",
    "cfloat": "FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON",
    "climits": "INT_MAX INT_MIN UINT_MAX LONG_MAX LLONG_MAX CHAR_BIT ULLONG_MAX",
    "cstddef": "size_t ptrdiff_t nullptr_t max_align_t",
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t"
    " intptr_t uintptr_t",
    "cmath": "sqrt pow exp log sin cos tan fabs floor ceil M_PI isnan isinf round",
    "ctime": "clock_t CLOCKS_PER_SEC time_t time",
    "sys/time.h": "gettimeofday timeval",
    "unistd.h": "usleep sleep getopt optarg",
    "iostream": "cout cerr endl cin",
    "iomanip": "setprecision setw setfill fixed",
    "fstream": "ifstream ofstream fstream",
    "sstream": "stringstream ostringstream istringstream",
    "string": "string to_string stoi stof getline",
    "string_view": "string_view",
    "vector": "vector",
    "deque": "deque",
    "list": "list",
    "stack": "stack",
    "map": "map multimap",
    "set": "set multiset",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "bitset": "bitset",
    "queue": "queue priority_queue",
    "iterator": "back_inserter istreambuf_iterator ostream_iterator",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared",
    "algorithm": "sort stable_sort min max clamp fill copy transform max_element min_element"
    " reverse generate for_each find_if any_of all_of lower_bound upper_bound",
    "numeric": "accumulate iota inner_product",
    "limits": "numeric_limits",
    "functional": "function",
    "random": "mt19937 random_device uniform_real_distribution normal_distribution",
    "chrono": "chrono",
    "thread": "thread this_thread",
    "mutex": "mutex lock_guard unique_lock once_flag call_once",
    "condition_variable": "condition_variable",
    "atomic": "atomic atomic_flag",
    "future": "future promise async",
    "utility": "pair make_pair move forward exchange swap",
    "tuple": "tuple make_tuple tie",
    "optional": "optional nullopt",
    "variant": "variant",
    "stdexcept": "runtime_error invalid_argument logic_error out_of_range",
    "exception": "exception exception_ptr terminate",
    "type_traits": "is_same enable_if conditional is_floating_point is_integral decay_t",
    "array": "array",
    "complex": "complex",
}
_HEADER_OF = {name: header for header, names in _HEADERS.items() for name in names.split()}


def add_header(text: SourceText, edits: Edits, message: str, notes: str) -> str:
    """Include what a name of the error ``message`` is declared in; says what was done."""
    told = _TOLD.search(notes)
    for match in _UNDECLARED.finditer(message):
        name = next(group for group in match.groups() if group)
        header = f"<{_HEADER_OF[name]}>" if name in _HEADER_OF else told and told[1]
        directive = f"#include {header}"
        if header and directive not in text.text:
            first = re.search(r"^[ \t]*#[ \t]*include\b", text.code, re.MULTILINE)
            if not any(directive == line for line in pending(edits, text)):
                edits.insert(first.start() if first else 0, directive + text.newline)
            return f"add {directive} for {name}"
    return ""


def pending(edits: Edits, text: SourceText) -> Iterator[str]:
    """The lines of ``text`` with the edits so far."""
    yield from edits.apply(text.text).split("\n")
