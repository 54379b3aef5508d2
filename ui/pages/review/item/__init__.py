"""One item of the queue: both sides, why it is asked, what can be done.

Must not do: carry a decision out; it says what was pressed.
"""
