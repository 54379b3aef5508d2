"""Where a memory comes from, its versions, what it names and how it stands to others.

Must not do: trust a source: what it says is shown as plain text.
"""
