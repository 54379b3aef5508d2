"""The Entities page: the named things of the vault, where they are mentioned, merging two and taking them apart.

Must not do: know another page.
"""
