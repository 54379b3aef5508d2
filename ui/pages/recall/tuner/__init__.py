"""The tuner: trial weights, what they do to the saved questions, what was applied.

Must not do: apply weights unasked; trying them changes nothing.
"""
