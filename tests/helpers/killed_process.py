"""A child of a test that is given an order on its standard input, and kills itself at the place the order names.

Must not do: know what the child does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any


def run_child(child: ModuleType, order: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    """Run a module of the helpers as a process of its own, to its end or its kill.

    Args:
        child: a module that reads one line of JSON and acts on it.
        order: what it is told.

    Returns:
        The ended process, whose code is negative where a signal ended it.
    """
    script = str(child.__file__)
    path = os.pathsep.join([str(Path(script).parent), *(one for one in sys.path if one)])
    return subprocess.run(
        [sys.executable, script],
        input=json.dumps(order) + "\n",
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
