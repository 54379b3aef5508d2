"""Chats between people, as messengers export them.

Must not do: guess which speaker the person is, or store what a program says of a chat as somebody's words.
"""
