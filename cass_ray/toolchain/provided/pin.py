"""``python -m cass_ray.toolchain.provided.pin``: versions and digests of ``pins.csv`` made anew.

Wheels: what pip finds. Debian's packages: the candidates of this machine's apt, whose lists are
signed. What is pinned already stays unless ``--renew`` is given.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys

from cass_ray.csv_tables import read_rows
from cass_ray.toolchain.provided.errors import HeadersError
from cass_ray.toolchain.provided.index import find_wheel
from cass_ray.toolchain.provided.packages_table import PINS, WHEEL, described
from cass_ray.toolchain.provided.wheels import record_digest

_COLUMNS = ("name", "kind", "version", "location", "sha256")
_POOL = "pool/main/"
_FIELD = re.compile(r"^(Version|Filename|SHA256): (\S+)", re.MULTILINE)


def main(arguments: list[str]) -> int:
    """Write the table; says what could not be pinned."""
    pins: dict[str, dict[str, str]] = {}
    if "--renew" not in arguments and PINS.exists():
        pins = {row["name"]: row for row in read_rows(PINS)}
    rows = []
    failed = 0
    for name, (kind, entry) in described().items():
        try:
            row = pins.get(name) or _pin(name, kind, entry.version)
        except HeadersError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed += 1
            continue
        rows.append(row)
    with PINS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return 1 if failed else 0


def _pin(name: str, kind: str, version: str) -> dict[str, str]:
    if kind == WHEEL:
        wheel = find_wheel(f"{name}{version}")
        return dict(
            zip(_COLUMNS, (name, kind, wheel.version, "", record_digest(wheel.url)), strict=True)
        )
    command = ["apt-cache", "show", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    entries = [dict(_FIELD.findall(text)) for text in done.stdout.split("\n\n")]
    # Security updates are in an archive of their own, until the next point release.
    entry = next((x for x in entries if x.get("Filename", "").startswith(_POOL)), {})
    if set(entry) != {"Version", "Filename", "SHA256"}:
        raise HeadersError("not in the lists of this machine's apt")
    plain = re.sub(r"^\d+:|[^\w.+~-]", "", entry["Version"])
    values = (name, kind, plain, entry["Filename"], entry["SHA256"])
    return dict(zip(_COLUMNS, values, strict=True))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
