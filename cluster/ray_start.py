"""``ray start`` on a machine that may be busy; a script, with the arguments of ``ray start``."""

from __future__ import annotations

import sys
from pathlib import Path

from ray.scripts.scripts import main

if __name__ == "__main__":  # the packages are beside this folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from actors.node_timeout import noted_ports

if __name__ == "__main__":
    sys.argv = ["ray", "start", *sys.argv[1:]]
    with noted_ports():
        main()
