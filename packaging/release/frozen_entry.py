"""Where the frozen program begins: it is `loci`, and the interpreter of the three children that Loci starts.

`-m MODULE` starts a child, as with an interpreter; any other module is not known. Must not do: anything that
`app.__main__` does.
"""

from __future__ import annotations

import os
import runpy
import sys

CHILDREN = frozenset({"app.bench.cold", "core.engine.views.layout_process", "core.security.keyring_helper"})
_LIBRARIES = "LD_LIBRARY_PATH"


def free_children(variables: dict[str, str]) -> dict[str, str | None]:
    """What to change in the environment so that the programs Loci starts find the libraries of the system again.

    Trigger: the frozen program was started with the path of its own libraries in front. Why: the person's editor would
    be given them. Outcome: what stood there before, or nothing; this process has loaded what it was started with.

    Args:
        variables: of this process.

    Returns:
        Name to value; None for a variable that goes.
    """
    before = variables.get(f"{_LIBRARIES}_ORIG")
    if before is not None:
        return {_LIBRARIES: before, f"{_LIBRARIES}_ORIG": None}
    return {_LIBRARIES: None} if _LIBRARIES in variables else {}


def main() -> None:
    """Be what the arguments say."""
    for name, value in free_children(dict(os.environ)).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if len(sys.argv) == 3 and sys.argv[1] == "-m" and sys.argv[2] in CHILDREN:
        module = sys.argv[2]
        del sys.argv[1:]
        runpy.run_module(module, run_name="__main__")
        return
    from app.__main__ import run

    run()


if __name__ == "__main__":
    main()
