"""Pure text: index terms, sentences, times, and what can be read off a text or a question by rules.

Must not do: any I/O but reading its own word lists from `resources`, any knowledge of rows, any scoring.
"""
