"""What the importers of notes share: which files of a folder are notes, and a note's text, date, tags and links.

Must not do: write into a vault, or change a character of a note.
"""
