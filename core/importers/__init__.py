"""Reads other programs' exports safely and reports what is in them.

`open_bundle` opens a file, folder or zip; `detect` finds its format; `read` of the importer streams records, skips and
troubles; `dry_run` counts them without writing. Must not do: write anywhere, open a connection, follow a link, know the
vault, or change a character of what a person wrote.
"""
