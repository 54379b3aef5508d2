"""Other devices of the person: what of a vault goes into bundles of changes, and how those of others are taken.

For: the registers of every synchronised row, collecting what changed, merging, and the decisions where two devices said
what cannot stand together. Must not do: read or write a file outside the vault, open a socket, trust a bundle whose
device is unknown.
"""
