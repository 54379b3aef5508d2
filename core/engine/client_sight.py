"""What a client would be given for a prompt: the way of the verb `context`, without a receipt, counts, or a hand-over.

Beside it stands what the person alone would be given for the same prompt, so that what a client's spaces keep from it
is seen too. Must not do: write anything, or be reached by a client.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

from core.embed.tokens import FOLDER, counter_for
from core.engine.asking import answer
from core.engine.futures import chain
from core.engine.opened import Opened
from core.engine.sight import Meant
from core.errors import Code, UserError
from core.recall.context import assembled, average_tokens
from core.recall.request import RecallRequest
from core.recall.scope import OWNER_SCOPE, Scope
from core.score.packing import fetch_count
from core.types.clients import Sight
from core.types.contexts import ContextQuery
from core.types.requests import RecallQuery
from core.vault.rows import Rows

OTHER_SPACE = "other_space"
"""Why a memory would not be handed out: it lies in a space the client does not see, or in another client's."""


def sight(opened: Opened, query: ContextQuery, scope: Scope) -> Future[Sight]:
    """Show what a client would be given.

    Args:
        opened: the open vault.
        query: the prompt, its budget and the model whose tokenizer counts.
        scope: the client's.

    Returns:
        The text and what is not in it; what is for the asker's own `handed` rows is left as it is.

    Raises:
        UserError: INVALID_QUERY for an empty prompt, INVALID_INPUT for a budget below 0.
    """
    budget = opened.options.context_tokens if query.budget is None else query.budget
    if budget < 0:
        raise UserError(Code.INVALID_INPUT, "The token budget must be 0 or more.")
    request = RecallRequest.of(RecallQuery(query.prompt), scope)
    request.check()
    counter = counter_for(query.model, opened.home.path / FOLDER)

    def run(meant: Meant) -> Sight:
        now = opened.clock.now_ms()

        def read(rows: Rows) -> Sight:
            wanted = replace(request, limit=fetch_count(budget, average_tokens(rows, scope)))
            result = answer(opened, rows, wanted, meant, now)
            packed = assembled(rows, result.items, budget, counter)
            given = tuple(one.id for one in packed.included)
            withheld = {miss.id: miss.why for miss in result.near_misses}
            withheld |= {one.id: one.reason for one in packed.excluded}
            if not scope.unrestricted:
                whole = answer(opened, rows, replace(wanted, scope=OWNER_SCOPE), meant, now)
                known = {item.memory.id for item in result.items} | withheld.keys()
                withheld |= {item.memory.id: OTHER_SPACE for item in whole.items if item.memory.id not in known}
            return Sight(packed.text, packed.tokens, budget, given, withheld)

        return opened.vault.read(read)

    return chain(opened.mean([request.embed_text]), lambda meant: opened.on(opened.threads.reads, run, meant))
