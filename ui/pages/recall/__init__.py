"""The Recall page: ask, see every reason for the answer, and tune the weights with their effect visible.

Must not do: know another page, or change how recall ranks before the person applies it.
"""
