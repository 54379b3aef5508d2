"""What the window looks like: colours and measures, type, icons; all of it read from `resources`.

Must not know any page, hold a setting, or decide by itself which theme is.
"""
