"""A vault on its way into an archive and back: which tables are in it, reading them, and bringing rows in again.

Must not do: know the file's format (`core.archive`), overwrite a row of the vault with an older one, or let another
vault's archive change a row that is there.
"""
