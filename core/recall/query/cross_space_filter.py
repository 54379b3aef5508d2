"""What the person's word excludes though it stands in another space, as a condition of SQL.

Review items keep to one space, so what a client writes into its own is compared with nothing of the person's. Whoever
asks and sees both is given the person's word alone. Must not do: change a row, or tell of a space that is out of reach.
"""

from __future__ import annotations

from core.belief.claims.authorship import PERSONS

AT_ODDS = (
    ":now IS NOT NULL AND EXISTS (SELECT 1 FROM evidence e "  # noqa: S608 - constants of this module and of whose
    "CROSS JOIN claims c ON c.id = e.claim_id AND c.state = 'asserted' AND c.exclusive = 1 AND c.polarity = 'positive' "
    "AND c.subject_key = 'user' AND c.scope_session = '' "
    "CROSS JOIN spaces s ON s.id <> c.space_id AND (:seen IS NULL OR s.id IN (SELECT value FROM json_each(:seen))) "
    "CROSS JOIN claims o ON o.space_id = s.id AND o.subject_key = c.subject_key AND o.predicate = c.predicate "
    "AND o.state = 'asserted' AND o.exclusive = 1 AND o.polarity = 'positive' AND o.scope_session = '' "
    "AND o.qualifiers = c.qualifiers AND o.value_key <> c.value_key "
    "AND coalesce(o.valid_from, -9223372036854775807) < coalesce(c.valid_to, 9223372036854775807) "
    "AND coalesce(c.valid_from, -9223372036854775807) < coalesce(o.valid_to, 9223372036854775807) "
    "CROSS JOIN evidence b ON b.claim_id = o.id AND b.stance = 'supporting' "
    "WHERE e.memory_id = m.id AND e.stance = 'supporting' AND EXISTS "
    "(SELECT 1 FROM memories m WHERE m.id = b.memory_id AND m.status = 'active' AND " + PERSONS + ")) "
    "AND NOT " + PERSONS
)
"""Whether `m`, which is not the person's, tells of the person what a claim of the person's in another space excludes
(`:seen`: ids of the spaces the asker sees, NULL for all; `:now` NULL where not the present is asked about)."""
