"""What a client would be given for a prompt: the way of the verb `context`, without a receipt, counts, or a hand-over.

Beside it stands what the person alone would be given for the same prompt, so that what a client's spaces keep from it
is seen too. Must not do: write anything, or be reached by a client.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace

from core.embed.tokens import FOLDER, counter_for
from core.engine.access.recall_runner import answer
from core.engine.memories.contexts import budget_of
from core.engine.runtime.futures import chain
from core.engine.runtime.open_vault import Opened
from core.engine.runtime.vector_space import Meant
from core.recall.answer.client_quota import SHARE, packed_fairly
from core.recall.answer.context import average_tokens
from core.recall.query.request import RecallRequest
from core.recall.query.scope import OWNER_SCOPE, Scope, sealed_among, seen
from core.score.ranking.packing import fetch_count
from core.types.clients import Sight
from core.types.recall import ContextQuery
from core.types.requests import RecallQuery
from core.vault.database.rows import Rows

OTHER_SPACE = "other_space"
"""Why a memory would not be handed out: it lies in a space the client does not see, or in another client's."""
SEALED = "sealed"
"""Why a memory would not be handed out: it is sealed, and no client is given it."""


def sight(opened: Opened, query: ContextQuery, scope: Scope, *, may_read: bool) -> Future[Sight]:
    """Show what a client would be given.

    Args:
        opened: the open vault.
        query: the prompt, its budget and the model whose tokenizer counts.
        scope: the client's.
        may_read: whether it is answered at all: without the grant `read` every question is refused it.

    Returns:
        The text and what is not in it; nothing for one that may not read.

    Raises:
        UserError: INVALID_QUERY for an empty prompt, INVALID_INPUT for a budget below 0.
    """
    budget = budget_of(opened, query)
    request = RecallRequest.of(RecallQuery(query.prompt), scope)
    request.check()
    if not may_read:
        return _settled(Sight("", 0, budget, (), {}))
    counter = counter_for(query.model, opened.home.path / FOLDER)

    def run(meant: Meant) -> Sight:
        now = opened.clock.now_ms()

        def read(rows: Rows) -> Sight:
            wanted = replace(request, limit=fetch_count(budget, average_tokens(rows, scope)))
            result = answer(opened, rows, wanted, meant, now)
            packed = packed_fairly(rows, result.items, budget, counter, scope.client_id, result.sought)
            given = tuple(one.id for one in packed.included)
            withheld = {miss.id: miss.why for miss in result.near_misses}
            withheld |= {one.id: one.reason for one in packed.excluded}
            whole = answer(opened, rows, replace(wanted, scope=OWNER_SCOPE), meant, now)
            known = {item.memory.id for item in result.items} | withheld.keys()
            withheld |= _kept_from(rows, [item.memory.id for item in whole.items if item.memory.id not in known], scope)
            return Sight(packed.text, packed.tokens, budget, given, withheld)

        return opened.vault.read(read)

    return chain(opened.mean([request.embed_text]), lambda meant: opened.on(opened.threads.reads, run, meant))


def _kept_from(rows: Rows, ids: Sequence[str], scope: Scope) -> dict[str, str]:
    """Why a client is not even searched these, which the person would be given."""
    within, closed = seen(rows, ids, scope), sealed_among(rows, ids)
    return {one: SEALED if one in closed else SHARE if one in within else OTHER_SPACE for one in ids}


def _settled(value: Sight) -> Future[Sight]:
    made: Future[Sight] = Future()
    made.set_result(value)
    return made
