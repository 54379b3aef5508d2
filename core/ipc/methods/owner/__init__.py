"""The JSON of every command-line verb, one async function each.

`owner.<verb>` on the socket and the command line in process run the same functions, so both say the same.
Must not do: decide anything the engine decides; print; know the socket.
"""

from core.ipc.methods.owner.base import Params, Progress, Verb
from core.ipc.methods.owner.table import VERBS, carry_out, run_verb

__all__ = ["VERBS", "Params", "Progress", "Verb", "carry_out", "run_verb"]
