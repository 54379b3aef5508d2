"""The inspector: what is selected, in sections that are registered by kind.

Must not do: know a page.
"""
