"""Mail: single messages, mailboxes in one file, and folders of messages.

Must not do: open an attachment, load a picture, or follow a link.
"""
