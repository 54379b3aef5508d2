"""The home as a folder, for callers outside the engine that need none of its keys.

What opens keys brings nine megabytes of libraries, which a start would read before it shows anything. Must not do:
import what knows a key.
"""

from core.vault.files.home import Home

__all__ = ["Home"]
