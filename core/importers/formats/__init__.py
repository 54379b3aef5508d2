"""One module for each format that can be imported: assistants' exports, other memory stores, notes, tables.

Must not do: store anything, or know another format.
"""
