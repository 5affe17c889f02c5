"""Symbols of ``__managed__`` variables.

On the host, clang hands over the memory of such a variable where a function asks for its symbol,
so HIP's functions find no symbol. The memory can be copied as any other.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

SNIPPET = "managed"
_SYMBOL_ARGUMENT = {
    "cudaMemcpyToSymbol": 0,
    "cudaMemcpyToSymbolAsync": 0,
    "cudaMemcpyFromSymbol": 1,
    "cudaMemcpyFromSymbolAsync": 1,
    "cudaGetSymbolAddress": 1,
    "cudaGetSymbolSize": 1,
}
"""Function -> the argument that is the symbol."""
_FUNCTIONS = {
    "cudaMemcpyToSymbol": "cass::memcpy_to_managed",
    "cudaMemcpyToSymbolAsync": "cass::memcpy_to_managed_async",
    "cudaMemcpyFromSymbol": "cass::memcpy_from_managed",
    "cudaMemcpyFromSymbolAsync": "cass::memcpy_from_managed_async",
    "cudaGetSymbolAddress": "cass::address_of_managed",
    "cudaGetSymbolSize": "cass::size_of_managed",
}
_DECLARATION = re.compile(r"\b__managed__\b(?P<declared>[^;{}()=]*)")
_DECLARATOR = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*\Z")


def rewrite_managed_symbols(unit: Rewrite) -> None:
    """Calls that name a managed variable as a symbol take its memory."""
    if unit.is_hip or "__managed__" not in unit.words:
        return
    variables = _variables(unit.source.code)
    for function, place in _SYMBOL_ARGUMENT.items():
        for offset in unit.words.get(function, ()):
            call = unit.call(offset, function)
            if call is None or len(call[0]) <= place or offset in unit.handled:
                continue
            symbol = unit.text(call[0][place]).strip().removeprefix("::")
            if symbol in variables:
                unit.rename(offset, function, _FUNCTIONS[function])
                unit.snippets.add(SNIPPET)


def _variables(code: str) -> set[str]:
    """Names of the variables that are declared ``__managed__``, each declarator's."""
    names: set[str] = set()
    for match in _DECLARATION.finditer(code):
        for declarator in match["declared"].split(","):
            name = _DECLARATOR.search(declarator.rstrip())
            if name is not None:
                names.add(name[1])
    return names
