"""The parts of the shell: window, rail, search field, command palette, status bar, tray.

Must not do: know a single page or section of the inspector; they come registered.
"""
