"""The journal's tabs of what can be undone: changes and imports.

Must not do: undo by itself what nobody asked to be undone.
"""
