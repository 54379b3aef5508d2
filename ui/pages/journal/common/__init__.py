"""What the tabs of the journal share: words, lines, their list and their table.

Must not do: know a tab.
"""
