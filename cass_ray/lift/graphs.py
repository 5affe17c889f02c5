"""Graphs as mappings from a node to those that follow it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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
    """Heights of the nodes that are on the stack."""
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


def reached(following: Callable[[Node], Iterable[Node]], starts: Iterable[Node]) -> set[Node]:
    """``starts``, and all nodes to which edges lead from them."""
    nodes = set(starts)
    pending = list(nodes)
    while pending:
        more = set(following(pending.pop())) - nodes
        nodes |= more
        pending += more
    return nodes


def predecessors_of(successors: Mapping[Node, Iterable[Node]]) -> dict[Node, list[Node]]:
    """Map each node to those that it follows; it is no key where there are none."""
    predecessors: dict[Node, list[Node]] = {}
    for node, following in successors.items():
        for successor in following:
            predecessors.setdefault(successor, []).append(node)
    return predecessors


def immediate_postdominators(
    successors: Mapping[Node, Collection[Node]], end: Node
) -> dict[Node, Node]:
    """The first node that all paths from each one come to; ``end`` where there is none.

    ``end``: what all paths lead to; it is no key. Cooper, Harvey and Kennedy: A Simple, Fast
    Dominance Algorithm.
    """
    order = _postorder(predecessors_of(successors), end)
    number = {node: position for position, node in enumerate(order)}
    postdominators = {end: end}
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            processed = [each for each in successors[node] if each in postdominators]
            nearest = processed[0]
            for each in processed[1:]:
                nearest = _common_postdominator(postdominators, number, nearest, each)
            if postdominators.get(node) != nearest:
                postdominators[node] = nearest
                changed = True
    return {node: postdominators.get(node, end) for node in successors}


def _postorder(predecessors: Mapping[Node, Collection[Node]], end: Node) -> list[Node]:
    """Nodes from which ``end`` is reached, backwards from it; it is the last of them."""
    seen, order = {end}, []
    work = [(end, iter(predecessors.get(end, [])))]
    while work:
        node, before = work[-1]
        for previous in before:
            if previous not in seen:
                seen.add(previous)
                work.append((previous, iter(predecessors.get(previous, []))))
                break
        else:
            work.pop()
            order.append(node)
    return order


def _common_postdominator(
    postdominators: Mapping[Node, Node], number: Mapping[Node, int], left: Node, right: Node
) -> Node:
    while left != right:
        while number[left] < number[right]:
            left = postdominators[left]
        while number[right] < number[left]:
            right = postdominators[right]
    return left
