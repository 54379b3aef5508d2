"""One module for each format that can be imported, in rooms by what the formats hold.

Must not do: store anything, or know another format.
"""
