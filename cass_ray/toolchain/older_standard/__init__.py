"""Headers in front of units, on both sides, that other headers or compilers took as they are."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
_OF_C = (
    r"assert|u?int(?:8|16|32|64)_t|u?intptr_t|mem(?:cpy|set|cmp|move)|str(?:len|n?cmp|n?cpy)|malloc"
    r"|free|exit|ato[if]|s?rand|(?:U?INT|U?LONG|U?CHAR|SHRT)_(?:MAX|MIN)|(?:FLT|DBL)_(?:MAX|MIN|EPSILON)"
    r"|UINT(?:8|16|32|64)_MAX|INT(?:8|16|32|64)_M(?:AX|IN)|CHAR_BIT|RAND_MAX|EXIT_(?:SUCCESS|FAILURE)"
    r"|M_PI|fprintf|stderr|stdout|FILE"
)
_OF_STD = (
    r"(?:stable_)?sort|(?:max|min|minmax)(?:_element)?|accumulate|iota|inner_product|fill(?:_n)?|copy"
    r"|find(?:_if)?|count(?:_if)?|swap|reverse|transform|all_of|any_of|lower_bound|upper_bound|unique"
    r"|numeric_limits|function|bind|hash|vector|array|string|to_string|stoi|unique_ptr"
    r"|shared_ptr|make_(?:unique|shared|pair)|pair|move|forward|runtime_error|logic_error"
    r"|invalid_argument|out_of_range|cout|cerr|endl|ostream|istream"
    r"|u?int(?:8|16|32|64)_t|memcpy|memset|strlen|abs|sqrt|pow|ceil|floor|round"
)
"""Members of ``std`` that programs often use without including their header."""

NEEDED = {
    "cass_standard.h": re.compile(
        rf"error: (?:identifier \"(?:{_OF_C})\" is undefined"
        rf"|namespace \"std\" has no member(?: class)? \"(?:{_OF_STD})\""
        rf"|qualified name is not allowed\n[^\n]*std::(?:{_OF_STD})\b"
        rf"|['‘](?:std::)?(?:{_OF_C})['’] "
        r"(?:was not declared|has not been declared|does not name a type)"
        rf"|['‘](?:{_OF_STD})['’] is not a member of ['‘]std['’])"
        rf"|error: no (?:member|template|type) named '(?:{_OF_STD})' in namespace 'std'"
        rf"|error: implicit instantiation of undefined template 'std::(?:{_OF_STD})\b"
        rf"|error: (?:use of undeclared identifier|unknown type name) '(?:{_OF_C})'"
    ),
    "cass_stacks.h": re.compile(
        r"cannot call non-constexpr function \"sysconf\""
        r"|call to non-['‘]constexpr['’] function ['‘]long int sysconf\(int\)"
        r"|note: non-constexpr function 'sysconf' cannot be used"
    ),
    "cass_declspec.h": re.compile(r"error: [^\n]*\n[^\n]*\b__declspec\s*\("),
    "cass_lerp.h": re.compile(
        r"['‘][^'’\n]*\blerp\([^'’\n]*['’] conflicts with a previous declaration"
        r"|more than one instance of overloaded function \"lerp\" matches"
        r"|error: declaration conflicts with target of using declaration [^\n]*\n[^\n]*\blerp\("
        r"|error: call to 'lerp' is ambiguous"
    ),
}
"""Header -> what compilers say of a unit that needs it."""
