"""The page of ``benchmarks.serve.overload``."""

from __future__ import annotations

from typing import Any

_EVERY = 6
"""Of the samples, one in so many has a line."""


def page(found: dict[str, Any]) -> str:
    honest, resources = found["honest"], found["resources"]
    told = ", ".join(f"{status}: {n}" for status, n in honest["told_to_come_again"].items())
    lines = [
        "# Overload",
        "",
        f"`{found['command']}`",
        "",
        f"{found['cores']} cores, shared with the clients and with whatever else ran (load average "
        f"{found['load_average_before']} before the attack). The service alone answered "
        f"{found['capacity_per_second']} honest requests a second; {found['offered_per_second']} a "
        f"second were offered for {found['seconds']:g} s, one in ten of them honest.",
        "",
        f"Honest requests: {honest['sent']} sent, {honest['answered']} answered, "
        f"{len(honest['wrong'])} wrong, {len(honest['lost'])} lost. Told to come again: "
        f"{told or 'none'}; without `Retry-After`: {honest['told_without_retry_after']}. "
        f"Most tries of one: {honest['most_tries']}; median {honest['median_s']} s and p99 "
        f"{honest['p99_s']} s with all waiting. The drain took {found['drain_s']} s.",
        "",
        "## Memory and disk",
        "",
        "Least squares over the later half, of samples each 5 s. *Lasting* are processes older "
        "than 30 s: Ray's and the service's own.",
        "",
        "| | least, MiB | most, MiB | slope, MiB a minute |",
        "|---|---:|---:|---:|",
    ]
    for name in ("lasting", "all", "disk", "store"):
        each = resources[name]
        lines.append(
            f"| {name} | {each['later_half_min_mib']} | {each['later_half_max_mib']} "
            f"| {each['slope_mib_per_minute']} |"
        )
    lines += ["", "| s | lasting | all | processes | disk | store |", "|---:|" + "---:|" * 5]
    lines += [
        f"| {s['s']} | {s['lasting_mib']} | {s['all_mib']} | {s['processes']} | {s['disk_mib']} "
        f"| {s['store_mib']} |"
        for s in resources["timeline"][::_EVERY]
    ]
    lines += ["", "## What attacks got", "", "| attack | answers |", "|---|---|"]
    for name, counts in found["hostile"].items():
        said = ", ".join(f"{status}: {count}" for status, count in sorted(counts.items()))
        lines.append(f"| {name} | {said} |")
    return "\n".join([*lines, ""])
