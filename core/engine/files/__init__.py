"""Files of memories as verbs: attached, listed, shown and saved; attaching is what its gate and its unit of work make it.

Must not do: read a format (`core.importers` does), or write a file anywhere but where the person says.
"""
