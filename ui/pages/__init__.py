"""The pages of the window, one package or file each, registered in `ui.registry`.

Must not do: know each other, or the shell.
"""
