"""Conversations with assistants: exports of their services and logs of their programs.

Must not do: store an assistant's thoughts or tool traffic as anybody's words.
"""
