"""Graphs as mappings from a node to those that follow it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

Node = TypeVar("Node")


def components(
    successors: Mapping[Node, Iterable[Node]], inside: Collection[Node], entries: Iterable[Node]
) -> Iterator[list[Node]]:
    """Strongly connected components that ``entries`` reach ``inside``, those that follow first.

    Each begins with the node by which it was entered. Tarjan's algorithm, without recursion.
    """
    order: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    stack: list[Node] = []
    height: dict[Node, int] = {}
    """Of nodes that are on the stack."""
    work: list[tuple[Node | None, Iterator[Node]]] = [(None, iter(entries))]
    while work:
        node, following = work[-1]
        for successor in following:
            if successor not in inside:
                continue
            if successor not in order:
                order[successor] = lowest[successor] = len(order)
                height[successor] = len(stack)
                stack.append(successor)
                work.append((successor, iter(successors[successor])))
                break
            if node is not None and successor in height:
                lowest[node] = min(lowest[node], order[successor])
        else:
            work.pop()
            if node is None:
                continue
            parent = work[-1][0]
            if parent is not None:
                lowest[parent] = min(lowest[parent], lowest[node])
            if lowest[node] == order[node]:
                component = stack[height[node] :]
                del stack[height[node] :]
                for each in component:
                    del height[each]
                yield component
