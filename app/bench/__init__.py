"""`loci bench`: synthetic texts, measurements of a vault in a temporary home, and the table.

Must not do: touch a person's home, or be imported by anything but the command line.
"""
