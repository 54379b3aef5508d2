"""Files of memories as verbs: attached, listed, shown and saved.

Must not do: read a format (`core.importers` does), or write a file anywhere but where the person says.
"""
