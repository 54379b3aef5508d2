"""Small pieces the pages are made of.

They know the theme and the shared words. Must not do: ask the engine.
"""
