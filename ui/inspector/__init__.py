"""The inspector: what is selected, in parts that are registered by kind.

Must not do: know a page.
"""
