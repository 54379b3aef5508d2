"""The window. It asks the engine and shows the frozen snapshots it gets back.

Must not touch the vault, wait for an answer on the GUI thread, or be imported by
`core`. `ui.bridge` is the only crossing between the engine's threads and Qt's.
"""
