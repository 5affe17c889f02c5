"""Cooperative groups: the collectives that HIP's groups lack.

HIP has the groups, their shuffles of numbers and barriers. Shuffles of other types, votes of tiles,
``reduce``, scans and ``memcpy_async`` come from snippets.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

HEADERS = {
    "cooperative_groups/reduce.h": "group_reduce",
    "cooperative_groups/scan.h": "group_scan",
    "cooperative_groups/memcpy_async.h": "group_copy",
    "cooperative_groups/async.h": "group_copy",
    "cuda/barrier": "barrier",
    "cuda/pipeline": "barrier",
    "cuda_occupancy.h": "occupancy",
    "thrust/system/cuda/experimental/pinned_allocator.h": "pinned_allocator",
}
"""Headers that HIP lacks -> the snippet that stands for them, behind the runtime's header."""

HOST_HEADERS = {"nvtx3/nvtx3.hpp": "nvtx_ranges"}
"""The same for text that needs no runtime: it stands in the place of the line, under its
conditions, for other compilers read it as well."""

_OPERATORS = ("plus", "less", "greater", "bit_and", "bit_or", "bit_xor")
COLLECTIVES = {
    "reduce": ("cass::group_reduce", "group_reduce"),
    "inclusive_scan": ("cass::group_inclusive_scan", "group_scan"),
    "exclusive_scan": ("cass::group_exclusive_scan", "group_scan"),
    "memcpy_async": ("cass::group_memcpy_async", "group_copy"),
    "wait": ("cass::group_wait", "group_copy"),
    "wait_prior": ("cass::group_wait_prior", "group_copy"),
    "coalesced_threads": ("cass::coalesced_threads", "group_coalesced"),
    "labeled_partition": ("cass::labeled_partition", "group_coalesced"),
    "binary_partition": ("cass::binary_partition", "group_coalesced"),
    "block_tile_memory": ("cass::block_tile_memory", "group_tiles"),
    **{name: (f"cass::{name}", "group_reduce") for name in _OPERATORS},
}
"""Function or type in ``cooperative_groups`` -> its name in a snippet, and the snippet."""

_ALIAS_LEAD = re.compile(r"\bnamespace\s+(\w+)\s*=\s*\Z")
_USING_LEAD = re.compile(r"\busing\s+namespace\s+\Z")
_QUALIFIER = re.compile(r"\b(\w+)\s*::\s*\Z")
_VOTES = {"any": 1, "all": 1, "ballot": 1, "match_any": 1, "match_all": 2}
"""Members of groups that are votes, and the number of their arguments."""
_OF_GROUPS = {"thread_rank", "meta_group_rank", "shfl", "shfl_xor", "shfl_down", "shfl_up"}
_OF_GROUPS_ALONE = {"ballot": 1, "match_any": 1, "match_all": 2}
"""Votes whose names are no other classes'."""
_SHUFFLES = ("shfl", "shfl_up", "shfl_down", "shfl_xor")
_NUMBERS = "int|unsigned|signed|char|short|long|float|double|bool|u?int\\d+_t|size_t|std::size_t"
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"(?:0[xX])?[\d.][\w.]*")
_SIZE_OF_TYPE = re.compile(
    r"(?P<type>\bdecltype\s*\(\s*\w+\s*\)|\b(?:\w+\s*::\s*)?thread_block_tile\s*<[^<>(){};]{1,80}>)"
    r"\s*::\s*(?P<member>num_threads|size)\s*\(\s*\)"
)
_PARTITION = re.compile(r"\b\w+\s*::\s*tiled_partition\b(?=\s*<)")
_BLOCK = re.compile(
    r"\bthread_block\s*+(?:const\s*+)?&?\s*+(\w+)\b"
    r"|\bauto\s*+&?\s*+(\w+)\s*+=\s*+(?:\w+\s*+::\s*+)*this_thread_block\b"
)
_TILE_OF = re.compile(r"\s*<[^<>(){};]{1,80}>\s*\(([^(){};]{0,80}(?:\(\s*\))?[^(){};]{0,80})\)")
_GROUP = re.compile(r"\b([A-Za-z_]\w*)\s*\.\s*\Z")


def rewrite_groups(unit: Rewrite) -> None:
    """Rewrite votes that are members of a group into calls of functions on the group."""
    if unit.is_hip:
        return
    if "cooperative_groups" in unit.words:
        _rewrite_collectives(unit)
        _rewrite_sizes(unit)
        _widen_tiles(unit)
        _partition_coalesced(unit)
        votes = _VOTES
    elif _OF_GROUPS & unit.words.keys():
        votes = _OF_GROUPS_ALONE  # a group that comes as a parameter of a template
    else:
        return
    if "template" in unit.words:
        for shuffle in _SHUFFLES:
            for offset in unit.words.get(shuffle, ()):
                _rewrite_shuffle(unit, offset, shuffle)
    for vote, arguments in votes.items():
        for offset in unit.words.get(vote, ()):
            _rewrite_vote(unit, offset, vote, arguments)


def _rewrite_sizes(unit: Rewrite) -> None:
    """The size of a tile's type, which is a constant in CUDA."""
    for match in _SIZE_OF_TYPE.finditer(unit.source.code):
        unit.edits.replace(*match.span(), f"cass::group_size<{unit.text(match.span('type'))}>()")
        unit.converted(match.start("member"))
        unit.snippets.add("group_tiles")


def _widen_tiles(unit: Rewrite) -> None:
    """Tiles of more than a warp, by the memory that they need, and tiles of tiles.

    HIP has neither.
    """
    wide = "block_tile_memory" in unit.words
    blocks = {match[1] or match[2] for match in _BLOCK.finditer(unit.source.code)}
    for match in _PARTITION.finditer(unit.source.code):
        if wide or not _is_of_block(unit, match.end(), blocks):
            unit.edits.replace(*match.span(), "cass::tiled_partition")
            unit.snippets.add("group_tiles")
    if not wide:
        return
    for offset in unit.words.get("this_thread_block", ()):
        call = unit.call(offset, "this_thread_block")
        if call is not None and len(call[0]) == 1:
            unit.edits.replace(*call[0][0], "")
            unit.converted(offset)


def _is_of_block(unit: Rewrite, offset: int, blocks: set[str]) -> bool:
    """Whether the template's arguments at ``offset`` are followed by a block in brackets."""
    arguments = _TILE_OF.match(unit.source.code, offset)
    if arguments is None:
        return True  # Not called here.
    return "this_thread_block" in arguments[1] or arguments[1].strip() in blocks


def _partition_coalesced(unit: Rewrite) -> None:
    """Tiles of a size known at run time, of whatever group: it may be a coalesced one."""
    if not {"coalesced_threads", "coalesced_group", "thread_group"} & unit.words.keys():
        return
    for offset in unit.words.get("tiled_partition", ()):
        qualifier = _QUALIFIER.search(unit.source.code, max(0, offset - 40), offset)
        call = unit.call(offset, "tiled_partition")
        if call is None or len(call[0]) != 2 or unit.declares("tiled_partition"):
            continue
        start = qualifier.start() if qualifier else offset
        unit.edits.replace(start, offset + len("tiled_partition"), "cass::partition_tiles")
        unit.converted(offset)
        unit.snippets.add("group_coalesced")


def _rewrite_vote(unit: Rewrite, offset: int, vote: str, arguments: int) -> None:
    group = _GROUP.search(unit.source.code, max(0, offset - 80), offset)
    call = unit.call(offset, vote)
    if group is None or call is None or unit.is_member(group.start()):
        return
    if len(call[0]) != arguments:
        return
    unit.edits.replace(group.start(), call[0][0][0], f"cass::group_{vote}({group[1]}, ")
    unit.converted(group.start())
    unit.snippets.add("group_votes")


def _rewrite_shuffle(unit: Rewrite, offset: int, shuffle: str) -> None:
    """In a file with templates what is shuffled may be of any type."""
    group = _GROUP.search(unit.source.code, max(0, offset - 80), offset)
    call = unit.call(offset, shuffle)
    if group is None or call is None or len(call[0]) != 2 or unit.is_member(group.start()):
        return
    if _is_number(unit, unit.text(call[0][0])):
        return
    unit.edits.replace(group.start(), call[0][0][0], f"cass::group_{shuffle}({group[1]}, ")
    unit.converted(group.start())
    unit.snippets.add("group_shuffles")


def _is_number(unit: Rewrite, value: str) -> bool:
    """Whether ``value`` is a literal, or a name that the file declares as a number only."""
    if _NUMBER.fullmatch(value):
        return True
    if not _PLAIN_NAME.fullmatch(value):
        return False
    declared = re.compile(rf"(?P<type>[\w:]+|[>*&])\s+{value}\s*(?=[=;,)({{])")
    types = [match["type"].split("::")[-1] for match in declared.finditer(unit.source.code)]
    types = [each for each in types if each not in {"return", "else"}]
    return bool(types) and all(re.fullmatch(_NUMBERS, each) for each in types)


def _rewrite_collectives(unit: Rewrite) -> None:
    code = unit.source.code
    namespaces = {"cooperative_groups"}
    unqualified = False
    for offset in unit.words["cooperative_groups"]:
        start = max(0, offset - 80)
        alias = _ALIAS_LEAD.search(code, start, offset)
        if alias:
            namespaces.add(alias[1])
        unqualified |= _USING_LEAD.search(code, start, offset) is not None
    for word, (name, snippet) in COLLECTIVES.items():
        for offset in unit.words.get(word, ()):
            after = code[offset + len(word) : offset + len(word) + 8].lstrip()
            if not after.startswith(("(", "<")):
                continue
            qualifier = _QUALIFIER.search(code, max(0, offset - 40), offset)
            if qualifier and qualifier[1] in namespaces:
                unit.edits.replace(qualifier.start(), offset + len(word), name)
            elif qualifier or not unqualified or unit.is_member(offset) or unit.declares(word):
                continue
            else:
                unit.edits.replace(offset, offset + len(word), name)
            unit.converted(offset)
            unit.snippets.add(snippet)
