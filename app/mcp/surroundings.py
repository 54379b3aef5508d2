"""What an assistant leaves out when it starts a server: where this session's sockets and keyring are.

Must not do: read anything but the variables it is given and whether directories exist.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

KEPT = ("LOCI_HOME", "LOCI_SOCKET", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
"""Variables that say where the vault, the socket and the token are; none of them is a secret."""


def completed(variables: Mapping[str, str], runtime_root: Path = Path("/run/user")) -> dict[str, str]:
    """Add what assistants drop: most start their servers with little more than HOME and PATH.

    Args:
        variables: of this process.
        runtime_root: where Linux keeps the runtime directories of its users.

    Returns:
        The same, with `XDG_RUNTIME_DIR` and the address of the session's bus where they are missing and found.
    """
    found = dict(variables)
    if sys.platform != "linux" or found.get("XDG_RUNTIME_DIR"):
        return found
    folder = runtime_root / str(os.geteuid())
    if not _is_ours(folder):
        return found
    found["XDG_RUNTIME_DIR"] = str(folder)
    if "DBUS_SESSION_BUS_ADDRESS" not in found and (folder / "bus").exists():
        found["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={folder / 'bus'}"
    return found


def _is_ours(folder: Path) -> bool:
    try:
        seen = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid()
