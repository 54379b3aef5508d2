"""Pure text: folding, index terms, query terms, sentences, splitting, and what of a memory is indexed and embedded.

Must not do: any I/O but reading its own word lists from `resources/text`, any knowledge of rows, any scoring.
"""
