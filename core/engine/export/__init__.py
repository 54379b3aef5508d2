"""Exports of memories to a file of the person's own: what is written, in which form, and the audit row before it.

Must not do: change a text, write into Loci's own folder, let anything leave the vault without a row in the audit.
"""
