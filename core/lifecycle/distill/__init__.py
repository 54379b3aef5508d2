"""What is learned of episodes: statements by the built-in reader, facts and rules by a local model.

Must not do: let anything in past the gate.
"""
