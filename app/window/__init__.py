"""The window's start: one window a home, an engine of its own, and the parts of `ui` put together.

Must not do: draw; that is `ui`.
"""
