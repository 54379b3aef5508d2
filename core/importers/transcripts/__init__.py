"""What the importers of assistants' conversations share: turns as records, and conversations that are trees.

Must not do: know any format.
"""
