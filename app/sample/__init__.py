"""The sample palace: its vault, the walk through it in a window or on the terminal, and pictures of its pages.

Must not do: touch a person's home.
"""
