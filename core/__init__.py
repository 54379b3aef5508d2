"""Everything Loci knows and does, without a window.

No module below imports Qt, reads the environment or starts a thread at import
time. `core.engine.facade` is the only door that `app`, `ui` and `core.ipc` use.
"""
