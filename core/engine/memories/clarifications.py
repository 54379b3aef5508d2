"""The questions beside a context: chosen and noted in one transaction, so that none is put twice.

Nothing is written where there is nothing to ask. Must not do: hold a context back because a question could not be
noted (seed B, fail-open): it goes out without.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

from core import log
from core.engine.runtime.open_vault import Opened
from core.errors import LociError
from core.lifecycle.questions.question_choice import asked, next_questions
from core.recall.query.scope import Scope, seen
from core.types.recall import Clarifying, ContextQuery, ContextReply
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_log = log.get("engine")


def choose(opened: Opened, rows: Rows, query: ContextQuery, scope: Scope) -> tuple[Clarifying, ...]:
    """The questions that may be put with a context.

    Args:
        opened: the open vault.
        rows: a snapshot of it, or a transaction.
        query: the prompt; without a session nothing is asked.
        scope: what the asker may see.

    Returns:
        None to two.
    """
    if not query.session:
        return ()
    spaces = None if scope.unrestricted else scope.space_ids
    if query.spaces is not None:
        named = {
            str(row[0]) for name in query.spaces for row in rows.all("SELECT id FROM spaces WHERE name = ?", (name,))
        }
        spaces = frozenset(named if spaces is None else named & spaces)
    within = scope if spaces is None else replace(scope, unrestricted=False, space_ids=spaces)
    return next_questions(
        rows,
        opened.options,
        lambda ids: seen(rows, ids, within),
        scope.client_id,
        query.session,
        opened.clock.now_ms(),
        spaces,
    )


def with_questions(opened: Opened, reply: ContextReply, query: ContextQuery, scope: Scope) -> Future[ContextReply]:
    """Put the questions beside a context.

    Args:
        opened: the open vault.
        reply: the context, with the questions that could be put when it was made.
        query: the prompt.
        scope: what the asker may see.

    Returns:
        The context with those that are noted as put.
    """
    done: Future[ContextReply] = Future()
    bare = replace(reply, clarifying=())
    if not reply.clarifying:
        done.set_result(bare)
        return done

    def note(tx: Tx) -> tuple[Clarifying, ...]:
        chosen = choose(opened, tx, query, scope)
        asked(tx, [one.id for one in chosen], scope.client_id, query.session or "")
        return chosen

    def noted(work: Future[tuple[Clarifying, ...]]) -> None:
        error = work.exception()
        if error is None:
            done.set_result(replace(bare, clarifying=work.result()))
            return
        if not isinstance(error, LociError):
            done.set_exception(error)
            return
        _log.warning("questions were left out: %s", error.code.value)
        done.set_result(bare)

    opened.write(note).add_done_callback(noted)
    return done
