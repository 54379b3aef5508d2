"""A conversation's statements: what was said and is worth keeping, rewritten to stand alone, with where it was said.

A reader says of each sentence what it is; what asks, wishes, supposes, jokes, quotes or gives orders is left out, and
so is what cannot be rewritten for sure. Must not do: know the vault, or let a word through that was not said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from core.talk.agreement import YOU, Speech, UnclearClauseError
from core.talk.answers import find_topic, is_fragment, join_answer, mark_question, read_question_request
from core.talk.clauses import Clause, has_finite_verb, list_heads, list_spare_heads, speaks_of_past, split_clauses
from core.talk.dates import find_date_edits, find_scene_date, has_own_time
from core.talk.open_references import QualifiedNouns, names_somebody, points_outside
from core.talk.references import References, possessive
from core.talk.statement_check import has_substance, is_aside, stands_alone
from core.talk.statement_types import (
    find_main_verb,
    is_passing_happening,
    is_turning_point,
    type_statement,
)
from core.talk.style.apposition import PLACES, find_appositions
from core.talk.style.earlier_statements import EarlierStatements, content_words
from core.talk.style.gender import find_genders, pronouns_of
from core.talk.style.polish import shorthand
from core.talk.third_person import RewrittenClause, rewrite_clause
from core.talk.turns import TurnSentence, is_foreign, split_turn
from core.talk.vocabulary import (
    Token,
    apply_edits,
    base_form,
    length_of_phrase_at,
    stem_word,
    talk_words,
    tokenize_talk,
    verb_forms,
)
from core.text.noun_phrases import is_noun
from core.text.screening.injection import current_limits, scan_text
from core.text.terms import common_words
from core.types.talk import (
    Assertion,
    ConversationStatements,
    Reading,
    SentenceInContext,
    Statement,
    StatementType,
    Turn,
)

Reader = Callable[[Sequence[SentenceInContext]], Sequence[Reading]]
SURE = 0.55
"""How sure reading and rewriting together must be."""
MARKED = 0.085
"""An episode none of whose sentences is so likely to state something is small talk: only what surely states nothing.

Of what authors that no fit saw said of any worth, 98 in 100 sentences lie above it.
"""
READ = 0.7
"""How sure the reader alone must be that a sentence states something."""
WORTH = 1.15
"""Expected worth from which a sentence is kept."""
LONE_WORTH, DIARY_WORTH = 1.3, 1.9
"""Likewise where nobody answers, and in what the owner writes alone: a diary tells of much that only its day needs."""
_LONE_LASTING = 0.8
"""How lasting must be what the owner writes alone or to an assistant, unless it is dated: the rest is its day's."""
_KEPT_UNDATED = frozenset(
    (
        StatementType.HEALTH,
        StatementType.POSSESSION,
        StatementType.RELATIONSHIP,
        StatementType.WORK,
        StatementType.PLACE,
        StatementType.SKILL,
    )
)
_MOST_IN_NOTE = 12  # words
_SHORTHAND = re.compile(r"[()=→<>/*+]|\d ?[-–] ?\d|\?")
_CONCLUDING = re.compile(r"(?i)so (?:it|that|this)(?:'s\b| (?:is|was|has|will|would|made|makes|feels|felt|seemed)\b)")
_ADDRESSING = re.compile(r"(?i)\b(?:you|your|yours|yourself|hi|hey|hello|thanks|thx)\b")
_HEADING = re.compile(r"(?m)^[ \t]*#{1,6}[ \t]|[:：][*_ \t]*$|^[ \t]*(?:\*\*|__|\[\[)[^\n]+(?:\*\*|__|\]\])[ \t]*$")
"""A line that says of whom or what the lines below it tell."""
_SURE_NOTE = 0.9
"""How sure the reader must be of a note without a verb, which is kept as it stands behind the writer's name."""
_LASTING_EVENT, _LASTING_WORK, _LASTING_CHANGE = 0.9, 0.8, 0.6
"""How lasting must be what happened once on no day that is known; less tells that of work, or that a change lasts."""
_MOST_IN_HEADING = 60  # characters at the end of a turn that may head the next one
_NEAR_OTHER = 2  # turns within which a fragment may be about somebody else who was named
_STILL_BESIDE = 6
"""So many turns on somebody may be asked about those that they were with."""
_NOBODY_BESIDE = (-99, "")
_ASKS_SEVERAL = re.compile(r"(?i)\byou (?:guys|both|all|two)\b|\byou\b.*\btogether\b|\byour family\b")
_NO_SCENE: tuple[int, int, str] = (-1, 0, "")
"""Of the day that was set for what is told next: number of the turn, first character in it, the date."""
_PASSING = frozenset((StatementType.ATTRIBUTE, StatementType.OPINION, StatementType.PREFERENCE))
_BRIEF, _BRIEF_WORTH = 0.4, 1.7  # how one is or what one thinks for a day only is kept where it weighs much
_NOT_MEANT = frozenset((Assertion.HYPOTHESIS, Assertion.JOKE, Assertion.QUOTED))
_KINDS_OF_NAMED = {"pets": StatementType.POSSESSION, PLACES: StatementType.PLACE}
_BY_THE_WAY = 0.8
"""How sure it is that "my sister Wren" names the sister."""
_UNASSERTED = frozenset((Assertion.QUESTION, Assertion.WISH, Assertion.HYPOTHESIS, Assertion.JOKE, Assertion.QUOTED))
_NOTHING = Reading(StatementType.NONE, 0.0, Assertion.NONE, 0.0, 0.0, 0.0)
_SPEAKERS = frozenset(("i", "im", "my", "me", "we", "our", "us"))
_MOST_WORDS = 45
_LEAST_WORDS = 3
_LASTING = 0.5
_MOST_BEFORE = 12
_NUMBERS = re.compile(r"\d+")
_REWRITTEN_AS = {"been": "went", "gonna": "going"}  # "has been to Rome" becomes "went to Rome"
_NEEDS_NO_OTHER = 14  # words from which a sentence is read without the turn before it; fewer hide small talk
_MOST_IN_PLEASANTRY = 6  # words
_MOST_IN_CALL = 2  # words of what is no statement unless it answers, or tells of somebody


@dataclass(frozen=True, slots=True)
class _Utterance:
    """A sentence with all that is around it.

    Attributes:
        turn: who said it, where.
        number: of its turn.
        sentence: its text and place.
        tokens: its words.
        before: the sentence of somebody else just before it, "" where another of the speaker stands between.
        who_before: who said that.
    """

    turn: Turn
    number: int
    sentence: TurnSentence
    tokens: tuple[Token, ...]
    before: str
    who_before: str


def distill_conversation(
    turns: Sequence[Turn], read: Reader, *, sure: float = SURE, worth: float = WORTH
) -> ConversationStatements:
    """The statements of one conversation.

    Args:
        turns: in their order.
        read: says what each sentence is.
        sure: how sure reading and rewriting together must be.
        worth: expected worth from which a sentence is kept.
    """
    builder = _StatementBuilder(turns, sure, worth)
    utterances = tuple(builder.list_sentences())
    contexts = [
        None if _is_decided(one) else builder.in_context(place, utterances) for place, one in enumerate(utterances)
    ]
    read_by_model = iter(read([context for context in contexts if context is not None]))
    readings = [_NOTHING if context is None else next(read_by_model) for context in contexts]
    # A clause that stands by itself is read by itself too, unless no reading of it could make up for its sentence's.
    least = 2 * max(sure, READ) - 1
    parts = [
        builder.list_parts(one, context) if context and reading.statement >= least else ()
        for one, context, reading in zip(utterances, contexts, readings, strict=True)
    ]
    read_parts = iter(read([part for each in parts for part in each]))
    for one, reading, each in zip(utterances, readings, parts, strict=True):
        builder.take(one, reading, tuple(next(read_parts) for _ in each))
    return builder.finish()


class _StatementBuilder:
    def __init__(self, turns: Sequence[Turn], sure: float, worth: float) -> None:
        self._turns = turns
        self._references = References(turns)
        self._genders = find_genders(turns)
        self._sure, self._worth = sure, max(worth, _worth_of_kind(turns))
        is_lone = len({turn.speaker for turn in turns if turn.text.strip()}) == 1
        is_note = not any(turn.speaker for turn in turns)
        is_chat = any(_ADDRESSING.search(turn.text) for turn in turns)  # of which only one side is there
        self._is_of_notes = is_lone and not (is_note or is_chat or self._references.has_assistant)
        self._is_alone = is_note or self._worth >= DIARY_WORTH or self._references.has_assistant
        self._names = frozenset(
            part for name in self._references.speakers for part in (name.lower(), *name.lower().split())
        )
        self._skipped: Counter[str] = Counter()
        self._made: list[Statement] = []
        self._earlier = EarlierStatements()
        self._worthy: set[str] = set()
        self._stems = _StemsUsed(self._references.speakers)
        self._nouns = QualifiedNouns()
        self._last_subject: tuple[int, str] = (-1, "")
        self._companions: tuple[int, str] = (-1, "")
        self._last_beside: dict[str, tuple[int, str]] = {}
        self._asked = ""  # the last question of the turn before
        self._scene = _NO_SCENE
        self._named_other = -2  # the last turn that named somebody else than who speaks

    def list_sentences(self) -> Iterator[_Utterance]:
        """All sentences that are read; what is not English is counted."""
        before: tuple[str, str] = ("", "")
        for number, turn in enumerate(self._turns):
            sentences, is_other_language = split_turn(turn), is_foreign(turn.text)
            if is_other_language or turn.is_assistant or (turn.text.strip() and not sentences):
                self._worthy.add(turn.episode_id)  # nothing is known of what is not read
            if is_other_language:
                self._skipped["language"] += max(1, len(sentences))
                before = ("", turn.speaker)
                continue
            own = ""
            for sentence in sentences:
                other = before if not own and before[1] != turn.speaker else ("", before[1])
                yield _Utterance(turn, number, sentence, sentence.tokens, *other)
                own = mark_question(sentence.text)
            before = (own, turn.speaker)

    def in_context(self, place: int, utterances: Sequence[_Utterance]) -> SentenceInContext:
        """A sentence as the reader is given it."""
        one = utterances[place]
        first = _speaker_run_start(utterances, place)
        own = tuple(each.sentence.text for each in utterances[first:place])
        text = one.sentence.text[: _end_of_statement(one)]
        is_long = sum(token.is_word for token in one.tokens) >= _NEEDS_NO_OTHER
        if is_long or not first or utterances[first - 1].turn.speaker == one.turn.speaker:
            return SentenceInContext(text, own)
        other = " ".join(each.sentence.text for each in utterances[_speaker_run_start(utterances, first - 1) : first])
        return SentenceInContext(text, (f"{utterances[first - 1].turn.speaker}: {other}", *own))

    def list_parts(self, one: _Utterance, whole: SentenceInContext) -> tuple[SentenceInContext, ...]:
        """The clauses of a sentence as the reader is given them; none where it has but one."""
        clauses = split_clauses(one.tokens, self._names)
        if len(clauses) < 2:
            return ()
        texts = [one.sentence.text[one.tokens[a.first].start : one.tokens[a.end - 1].end] for a in clauses]
        return tuple(SentenceInContext(text, (*whole.before, *texts[:at])) for at, text in enumerate(texts))

    def take(self, one: _Utterance, reading: Reading, parts: Sequence[Reading] = ()) -> None:
        """Make the statements of a sentence, or count why it has none, and remember what it names.

        Args:
            reading: of the whole sentence.
            parts: of its clauses, where it has several.
        """
        self._references.turn = one.number
        self._references.note_speaker(one.turn)
        speech = self._speech_of_utterance(one)
        self._stems.add(one.tokens)
        joined = tuple(_join_readings(reading, part) for part in parts)
        reason = self._why_no_statement(one, reading)
        if reason and any(self._why_no_statement(one, part) is None for part in joined):
            reason = None
        if reading.statement >= MARKED:
            self._worthy.add(one.turn.episode_id)
        if reason is None:
            reason = self._write_statements(one, reading, joined, speech)
        if reason:
            self._skipped[reason] += 1
            self._last_subject = (-1, "")  # what goes on without a subject may go on from here
        self._keep_appositions(one, reading, speech)
        self._references.note(one.tokens, speech.speaker, speech.addressee)
        self._nouns.note(one.tokens, one.number)
        if beside := self._references.find_companions(one.tokens, speech.speaker):
            self._companions = (one.number, beside)
            self._last_beside[speech.speaker] = (one.number, beside)
        self._asked = _last_question(one.sentence.text) if "?" in one.sentence.text else ""
        if self._is_of_notes and self._references.names_other(one.tokens, one.turn.speaker):
            self._named_other = one.number
        self._note_scene(one, one.sentence.text)

    def _keep_appositions(self, one: _Utterance, reading: Reading, speech: Speech) -> None:
        """Keep who somebody is to the speaker where a sentence only says so by the way, and nothing said it before."""
        if not one.turn.speaker or one.turn.is_assistant or reading.assertion in _NOT_MEANT:
            return
        for each in find_appositions(one.tokens, self._references.known_phrases(one.tokens), self._names):
            content = content_words(f"{each.name} {each.noun}")
            if any(
                content <= content_words(made.text) for made in self._made if made.about in (speech.speaker, each.name)
            ):
                continue
            text = f"{each.name} is {possessive(speech.speaker)} {each.noun}."
            kind = _KINDS_OF_NAMED.get(each.sort, StatementType.RELATIONSHIP)
            start = one.turn.start + one.sentence.start
            span = (start + each.start, start + each.end)
            self._made.append(
                Statement(
                    text=text,
                    about=each.name,
                    type=kind,
                    is_lasting=True,
                    confidence=_BY_THE_WAY,
                    episode_id=one.turn.episode_id,
                    span=span,
                    said_ms=one.turn.said_ms,
                )
            )

    def _note_scene(self, one: _Utterance, text: str) -> None:
        """Note the day that a sentence, or what of it stands before a clause, sets for what is told next."""
        scene = None if one.turn.said_ms is None else find_scene_date(text, one.turn.said_ms)
        self._scene = (one.number, one.sentence.start + scene.start, scene.text) if scene else _NO_SCENE

    def finish(self) -> ConversationStatements:
        """All that was made."""
        holding = {one.episode_id for one in self._made} | self._worthy
        small = dict.fromkeys(turn.episode_id for turn in self._turns if turn.episode_id not in holding)
        return ConversationStatements(tuple(self._made), tuple(small), dict(self._skipped))

    def _speech_of_utterance(self, one: _Utterance) -> Speech:
        speaker = self._references.name_of(one.turn)
        addressee, sure = self._references.addressee_of(one.turn, one.who_before)
        if self._companions[0] != one.number:
            asked = self._asked if self._companions[0] == one.number - 1 else ""
            beside = self._references.find_companions(tokenize_talk(asked), speaker, is_asked=True)
            known = self._last_beside.get(speaker, _NOBODY_BESIDE)
            if not beside and _ASKS_SEVERAL.search(asked) and one.number - known[0] <= _STILL_BESIDE:
                beside = known[1]  # "what else do you two do together?"
            if beside:
                self._last_beside[speaker] = (one.number, beside)
            self._companions = (one.number, beside)
        gender = self._genders.get(one.turn.speaker.casefold(), "")
        companions = self._companions[1]
        if companions.startswith("their "):
            companions = f"{pronouns_of(gender).owner} {companions.removeprefix('their ')}"
        addressee_gender = self._genders.get(addressee.casefold(), "")
        return Speech(speaker, addressee, sure, one.turn.said_ms, companions, gender, addressee_gender)

    def _why_no_statement(self, one: _Utterance, reading: Reading) -> str | None:
        """Why a sentence gives no statement by what it is; None where it may."""
        if one.turn.is_assistant:
            return "assistant"
        if _is_asked(one):
            return "question"
        if reading.assertion in _UNASSERTED:
            return str(reading.assertion)
        if reading.type is StatementType.NONE or reading.assertion is Assertion.NONE:
            return "small_talk"
        if reading.statement < max(self._sure, READ):
            return "unsure"
        if self._is_alone and reading.lasting < _LONE_LASTING and not _names_day(one):
            return "small_talk"
        is_brief = reading.type in _PASSING and reading.lasting < _BRIEF and reading.worth < _BRIEF_WORTH
        if reading.worth < self._worth or is_brief:
            return "small_talk"
        return "instruction" if scan_text(one.sentence.text).score > current_limits().flag else None

    def _write_statements(self, one: _Utterance, reading: Reading, parts: Sequence[Reading], speech: Speech) -> str:
        """Write what a sentence states; "" or the reason why nothing of it was written."""
        joined = [*self._rewrite_answer(one, reading, speech)] or [*self._rewrite_request(one, reading, speech)]
        if joined:
            is_kept = [self._keep_statement(each, one, reading, is_parted=False) for each in joined]
            return "" if any(is_kept) else "unsure"
        reasons: list[str] = []
        subjects: list[str] = []
        clauses = split_clauses(one.tokens, self._names)
        for clause, part in zip(clauses, parts or (reading,) * len(clauses), strict=True):
            if clause.first:
                if clause != clauses[0]:
                    self._note_scene(one, one.sentence.text[: one.tokens[clause.first - 1].start].rstrip(" -–—,;"))
                self._references.note(one.tokens[: clause.first], speech.speaker, speech.addressee)
            reason = (self._why_no_statement(one, part) if parts else None) or self._write_clause_statement(
                one, clause, part, speech, is_parted=bool(parts)
            )
            if reason:
                reasons.append(reason)
            else:
                subjects.append(self._last_subject[1])
        if subjects:
            self._last_subject = (one.number, subjects[0])
        if not subjects and {*reasons} == {"fragment"} and self._may_stand_as_note(one, reading):
            noted = _write_labelled(speech.speaker, speech.speaker, one, reading)
            return (
                "" if any(self._keep_statement(each, one, reading, is_parted=False) for each in noted) else "fragment"
            )
        return "" if subjects else reasons[0] if reasons else "unsure"

    def _may_stand_as_note(self, one: _Utterance, reading: Reading) -> bool:
        """Whether a fragment in somebody's own notes is one plain line: "oath renewal by 30 June"."""
        is_sure = reading.statement >= _SURE_NOTE and reading.worth >= DIARY_WORTH
        words = [token for token in one.tokens if token.is_word]
        is_plain = 1 < len(words) <= _MOST_IN_NOTE and one.tokens[0].low[:1].isalpha()
        is_plain = is_plain and not _SHORTHAND.search(one.sentence.text)
        if not (self._is_of_notes and is_sure and is_plain and is_fragment(one.sentence.text)):
            return False
        above = self._turns[one.number - 1].text if one.number else ""
        is_headed = _HEADING.search(one.turn.text[: one.sentence.start]) or _HEADING.search(above[-_MOST_IN_HEADING:])
        is_of_other = one.number - self._named_other < _NEAR_OTHER
        is_named = any(phrase.sort != "things" for phrase in self._references.known_phrases(one.tokens[:1]))
        return _names_thing(one.tokens) and not is_named and not is_headed and not is_of_other

    def _write_clause_statement(
        self, one: _Utterance, clause: Clause, reading: Reading, speech: Speech, *, is_parted: bool
    ) -> str:
        """Write what a clause states, whole or without the remark behind it; "" or the reason why nothing was."""
        reason = ""
        for head in (clause, *list_heads(one.tokens, clause)):
            try:
                rewritten = self._add_scene(self._rewrite_clause(one, head, reading, speech), one)
                if self._keep_statement(rewritten, one, reading, is_parted=is_parted):
                    return ""
                reason = reason or "unsure"
            except UnclearClauseError as error:
                reason = reason or str(error)
        return reason if reason != "reference" else self._write_spare_head(one, clause, reading, speech)

    def _write_spare_head(self, one: _Utterance, clause: Clause, reading: Reading, speech: Speech) -> str:
        """Write what stands before a part that points at what is not told; "" or the reason why nothing was."""
        for head in list_spare_heads(one.tokens, clause):
            try:
                rewritten = self._add_scene(self._rewrite_clause(one, head, reading, speech), one)
            except UnclearClauseError:
                continue
            return "" if self._keep_statement(rewritten, one, reading, is_parted=True) else "unsure"
        return "reference"

    def _add_scene(self, rewritten: RewrittenClause, one: _Utterance) -> RewrittenClause:
        """With the day that was set just before it, where it tells in the past what happened, and not when."""
        number, start, date = self._scene
        if number != one.number or not date:
            return rewritten
        tokens = tokenize_talk(rewritten.text.rstrip("."))
        verb = find_main_verb(tokens)
        is_past = verb is not None and tokens[verb].low not in ("has", "have", "had")
        if not is_past or not is_passing_happening(tokens) or has_own_time(tokens):
            return rewritten
        text = f"{rewritten.text.rstrip('.')} {date}."
        return replace(rewritten, text=text, start=start - one.sentence.start)

    def _rewrite_clause(self, one: _Utterance, clause: Clause, reading: Reading, speech: Speech) -> RewrittenClause:
        rewritten = rewrite_clause(
            one.sentence.text, one.tokens, clause, speech, self._references,
            topic=self._implied_subject(one, speech), recurs=reading.type is StatementType.HABIT,
        )  # fmt: skip
        self._last_subject = (one.number, rewritten.about)
        rewritten = _leave_open_tail(rewritten, self._names)
        return replace(rewritten, text=self._nouns.qualify(rewritten.text))

    def _implied_subject(self, one: _Utterance, speech: Speech) -> str:
        """Of whom a clause without a subject speaks: of whom the question asked, else who did what was just stated."""
        if one.before.rstrip().endswith("?"):
            for token in tokenize_talk(one.before):
                if token.low in ("he", "she"):
                    found, sure = self._references.resolve(token.low, not_meant=(speech.speaker, speech.addressee))
                    return found.name if found and sure > 0.5 else ""
                if token.low in ("you", "your"):
                    return speech.speaker
            return ""
        number, name = self._last_subject
        begins_line = (
            one.turn.text[: one.sentence.start].rstrip("-*•>#→ \t").endswith("\n")
        )  # of a list, each by itself
        return name if number == one.number and not begins_line else ""

    def _rewrite_answer(self, one: _Utterance, reading: Reading, speech: Speech) -> Iterator[RewrittenClause]:
        """The statement that an answer makes with its question."""
        if not one.before.rstrip().endswith("?"):
            return
        question = _last_question(one.before)
        start, end = 0, len(one.sentence.text)
        rewritten = join_answer(question, one.sentence.text, self._names)
        is_counted = not rewritten and question.lower().lstrip().startswith("how ")
        clauses = split_clauses(one.tokens, self._names) if is_counted else ()
        if len(clauses) > 1:  # "seven years now, and I still love it"
            end = one.tokens[clauses[0].end - 1].end
            rewritten = join_answer(question, one.sentence.text[:end], self._names)
        try:
            if rewritten:
                tokens = tokenize_talk(rewritten)
                recurs = reading.type is StatementType.HABIT
                whole = rewrite_clause(
                    rewritten, tokens, Clause(0, len(tokens)), speech, self._references, recurs=recurs
                )
                yield replace(whole, start=start, end=end, sure=whole.sure * 0.9)
            elif is_fragment(one.sentence.text) and (topic := find_topic(question)):
                yield from self._rewrite_topic(topic, one, reading, speech)
            elif name := self._person_asked_of(question, one, speech):
                yield from _write_labelled(name, name, one, reading)
        except UnclearClauseError:
            return

    def _rewrite_request(self, one: _Utterance, reading: Reading, speech: Speech) -> Iterator[RewrittenClause]:
        """What somebody wants of an assistant from now on: "Keep the answers short" is a preference of theirs."""
        if (
            not self._references.has_assistant
            or reading.lasting < _LASTING
            or reading.type not in (StatementType.PREFERENCE, StatementType.HABIT)
        ):
            return
        for clause in split_clauses(one.tokens, self._names)[:1]:
            start, end = one.tokens[clause.first].start, one.tokens[clause.end - 1].end
            wanted = read_question_request(one.sentence.text[start:end])
            tokens = tokenize_talk(wanted)
            try:
                if wanted:
                    rewritten = rewrite_clause(wanted, tokens, Clause(0, len(tokens)), speech, self._references)
                    yield replace(rewritten, start=start, end=end, sure=rewritten.sure * 0.9)
            except UnclearClauseError:
                return

    def _rewrite_topic(
        self, topic: str, one: _Utterance, reading: Reading, speech: Speech
    ) -> Iterator[RewrittenClause]:
        """Reads "Any injuries?" "Shin splints last year" as of the answerer's injuries."""
        words = topic.split()
        if words[0].lower() in ("your", "the", "my"):
            words = words[1:]
        if words and not topic.lower().startswith("my "):
            owner = possessive(speech.speaker)
            yield from _write_labelled(
                f"{owner[:1].upper()}{owner[1:]} {' '.join(words)}", speech.speaker, one, reading
            )

    def _person_asked_of(self, question: str, one: _Utterance, speech: Speech) -> str:
        """Of whom "How is he?" asks, where the answer has no subject; "" otherwise."""
        lows = [token.low for token in tokenize_talk(question)]
        asks = [low for low in lows if low in ("he", "she")]
        first = one.tokens[0].low if one.tokens else ""
        opens = first in verb_forms().sets["participle_adjectives"] or first in verb_forms().third
        if not asks or "how" not in lows or not opens:
            return ""
        found, sure = self._references.resolve(asks[0], not_meant=(speech.speaker, speech.addressee))
        return found.name if found and sure > 0.5 else ""

    def _keep_statement(
        self, rewritten: RewrittenClause, one: _Utterance, reading: Reading, *, is_parted: bool
    ) -> bool:
        """Keep a statement unless it is unsure, too short or long, not in the words of the talk, or stated already."""
        words = [token for token in tokenize_talk(rewritten.text) if token.is_word]
        sure = rewritten.sure * reading.statement
        if sure < self._sure or not _LEAST_WORDS <= len(words) <= _MOST_WORDS or not self._stems.hold(words):
            return False
        content = content_words(rewritten.text) - content_words(rewritten.about) - self._stems.names
        tokens = tokenize_talk(rewritten.text.rstrip("."))
        kind = type_statement(tokens, reading.type)
        is_naming = any(token.low in talk_words().sets["name_links"] for token in tokens)  # a name is enough
        needs_more = is_parted and not is_naming and not self._references.is_known_person(rewritten.about)
        if (
            len(content) < 1 + needs_more
            or not has_substance(content)
            or not self._is_clear(tokens, kind, one, reading)
        ):
            return False
        start = one.turn.start + one.sentence.start + rewritten.start
        statement = Statement(
            text=rewritten.text,
            about=YOU
            if one.turn.is_owner and rewritten.about == self._references.name_of(one.turn)
            else rewritten.about,
            type=kind,
            is_lasting=reading.lasting >= _LASTING,
            confidence=round(min(1.0, sure), 3),
            episode_id=one.turn.episode_id,
            span=(start, start + rewritten.end - rewritten.start),
            said_ms=one.turn.said_ms,
        )
        earlier = self._earlier.find_or_note(statement)
        if earlier is None:
            self._made.append(statement)
        elif earlier.episode_id != statement.episode_id and self._is_said_anew(statement, earlier):
            again = replace(statement, text=earlier.text, about=earlier.about, type=earlier.type)
            self._made.append(again)  # one more source of what stands
        return True

    def _is_said_anew(self, statement: Statement, earlier: Statement) -> bool:
        """Whether no sentence of this episode says an earlier statement again already."""
        of_episode = takewhile(lambda one: one.episode_id == statement.episode_id, reversed(self._made))
        return all(one.text != earlier.text for one in of_episode)

    def _is_clear(self, tokens: Sequence[Token], kind: StatementType, one: _Utterance, reading: Reading) -> bool:
        """Whether a rewritten sentence is understood by itself and says more than a mood."""
        lows = [token.low for token in tokens]
        is_of_nobody = not one.turn.speaker or lows[0] == "there"  # of what a note's heading says, which is not here
        if is_of_nobody and not names_somebody(tokens):
            return False
        if is_aside(tokens, kind):
            return False
        if is_passing_happening(tokens) and self._is_of_its_day(tokens, kind, reading):
            return False
        return stands_alone(lows) and not points_outside(tokens, self._names)

    def _is_of_its_day(self, tokens: Sequence[Token], kind: StatementType, reading: Reading) -> bool:
        """Whether what happened once, nobody says when, changes nothing that lasts."""
        if kind in _KEPT_UNDATED:
            return kind is StatementType.WORK and not self._is_alone and reading.lasting < _LASTING_WORK
        least = _LASTING_CHANGE if is_turning_point(tokens) else _LASTING_EVENT
        return self._is_alone or reading.lasting < least


def is_all_said(text: str, utterances: Sequence[str], names: Sequence[str]) -> bool:
    """Whether every name, number and content word of a sentence was said; whoever wrote it knew nothing else.

    Args:
        utterances: what was said, as far as it may be drawn on.
        names: of those who spoke.
    """
    stems = _StemsUsed(names)
    for one in utterances:
        stems.add(tokenize_talk(one))
    numbers = frozenset(_NUMBERS.findall(text))
    return numbers <= frozenset(_NUMBERS.findall(" ".join(utterances))) and stems.hold(
        [token for token in tokenize_talk(text) if token.is_word], is_dated=False
    )


def _write_labelled(lead: str, about: str, one: _Utterance, reading: Reading) -> Iterator[RewrittenClause]:
    """A fragment behind the name of what it is about: "Marlon: married, two children"."""
    text = one.sentence.text.rstrip(" .!")
    outside = {"i", "my", "me", "we", "our", "you", "your", "he", "she", "it", "they", "that", "this", "there"}
    if not outside & {token.low for token in tokenize_talk(text)}:
        first = text.split()[0]
        body = (
            text
            if first.lower() not in common_words() and not one.tokens[0].low.endswith("ed")
            else text[:1].lower() + text[1:]
        )
        if (dated := _date_fragment(body, one, reading.type)) is not None:
            yield RewrittenClause(f"{lead}: {dated}.", about, 0.7, 0, len(one.sentence.text))


def _date_fragment(body: str, one: _Utterance, kind: StatementType) -> str | None:
    """A fragment with its dates; None where nothing tells whether its "May" is over or to come."""
    if one.turn.said_ms is None:
        return body
    over, ahead = (
        apply_edits(
            body,
            0,
            len(body),
            find_date_edits(body, one.turn.said_ms, is_ahead=is_ahead, recurs=kind is StatementType.HABIT),
        )
        for is_ahead in (False, True)
    )
    if kind is StatementType.PLAN or over == ahead:
        return ahead
    return over if speaks_of_past(one.tokens, 0, len(one.tokens)) else None


def _names_thing(tokens: Sequence[Token]) -> bool:
    """Whether a fragment opens with a thing, as "oath renewal" does; "allergic to nuts" may be so of anybody."""
    low, behind = tokens[0].low, tokens[1].low if len(tokens) > 1 else ""
    is_act = low.endswith("ing") or low in verb_forms().participles
    return behind == ":" or (is_noun(low) and not is_act)


def _leave_open_tail(rewritten: RewrittenClause, names: frozenset[str]) -> RewrittenClause:
    """Without a last part that points outside.

    Either it has no verb ("does not like the new food, back to the old brand"), or it draws a conclusion of what is not
    said here ("wanted both, so it was a match").
    """
    text = rewritten.text.rstrip(".")
    head, comma, tail = text.rpartition(", ")
    tokens = tokenize_talk(text)
    end = len(tokenize_talk(head))
    if comma and _CONCLUDING.match(tail) and has_finite_verb(tokens, 0, end):
        return replace(rewritten, text=head + ".")
    if not comma or not points_outside(tokens, names) or points_outside(tokens[:end], names):
        return rewritten
    return rewritten if has_finite_verb(tokens, end + 1, len(tokens)) else replace(rewritten, text=head + ".")


def _is_decided(one: _Utterance) -> bool:
    """Whether what becomes of a sentence is clear without the reader: it is no statement that is kept."""
    if one.turn.is_assistant or _is_asked(one):
        return True
    lows = [token.low for token in one.tokens if token.is_word or token.low.startswith("'")]
    if one.before.rstrip().endswith("?") or _SPEAKERS & set(lows):
        return False
    if len(lows) <= _MOST_IN_CALL:
        return not lows or lows[0] not in verb_forms().past
    return len(lows) <= _MOST_IN_PLEASANTRY and length_of_phrase_at(lows, 0, talk_words().phrases["pleasantries"]) > 0


def _is_asked(one: _Utterance) -> bool:
    """Whether a sentence ends as a question does; "I'm with Henning now, remember?" is none."""
    is_asked = one.sentence.text.rstrip(" )\"'").endswith("?")
    return is_asked and _end_of_statement(one) == len(one.sentence.text)


def _end_of_statement(one: _Utterance) -> int:
    """Where what is stated ends before a tag that asks for a nod; the sentence's end where it has none."""
    tokens = [token for token in one.tokens if token.low not in ("?", "!")]
    lows = [token.low for token in tokens]
    end = len(one.sentence.text)
    if (
        not one.sentence.text.rstrip(" )\"'").endswith("?")
        or len(lows) < 4
        or lows[-1] not in talk_words().sets["tags"]
    ):
        return end
    comma = next((at for at in (-2, -3) if lows[at] == ","), None)
    is_told = comma is not None and has_finite_verb(one.tokens, 1, min(4, len(one.tokens)))
    return tokens[comma].start if is_told and comma is not None else end


def _names_day(one: _Utterance) -> bool:
    """Whether a sentence tells on which day something is."""
    months = talk_words().sets["months"]
    if any(token.low in months and token.is_capital for token in one.tokens):
        return True
    return one.turn.said_ms is not None and bool(find_date_edits(one.sentence.text, one.turn.said_ms, is_ahead=False))


def _worth_of_kind(turns: Sequence[Turn]) -> float:
    """The least worth by who writes: several, one alone, or the owner alone."""
    if len({turn.speaker for turn in turns if turn.text.strip()}) != 1:
        return 0.0
    return DIARY_WORTH if all(turn.is_owner for turn in turns) else LONE_WORTH


def _speaker_run_start(utterances: Sequence[_Utterance], place: int) -> int:
    """Where the sentences begin that one speaker says in a row, at most `_MOST_BEFORE` back."""
    first = place
    while first > max(0, place - _MOST_BEFORE) and utterances[first - 1].turn.speaker == utterances[place].turn.speaker:
        first -= 1
    return first


def _join_readings(whole: Reading, part: Reading) -> Reading:
    """How a clause is read: by itself and as its sentence is, half and half."""
    return replace(
        part,
        statement=(whole.statement + part.statement) / 2,
        asserted=(whole.asserted + part.asserted) / 2,
        lasting=(whole.lasting + part.lasting) / 2,
        worth=(whole.worth + part.worth) / 2,
    )


class _StemsUsed:
    """The words that were said so far, by which an invented one is told."""

    def __init__(self, names: Sequence[str]) -> None:
        self._seen: set[str] = set()
        self._unread: dict[str, list[str]] = {}  # words by the letter their stem begins with, until one is asked for
        self.names = {stem_word(token.low) for name in names for token in tokenize_talk(name)}
        self._known = {stem_word(word.lower()) for name in names for word in name.split()}
        self._known |= self.names

    def add(self, tokens: Sequence[Token]) -> None:
        """Take in what was said."""
        for token in tokens:
            if token.low not in self._seen:
                self._seen.add(token.low)
                self._unread.setdefault(base_form(token.low)[:1], []).append(token.low)
                for other in (_REWRITTEN_AS.get(token.low), *shorthand().get(token.low, "").split()):
                    if not other:
                        continue
                    self._unread.setdefault(base_form(other)[:1], []).append(other)

    def hold(self, words: Sequence[Token], *, is_dated: bool = True) -> bool:
        """Whether every word was said, or is a date or a small word of grammar.

        Args:
            is_dated: whether dates may stand in it that were worked out.
        """
        sets = talk_words().sets
        small = sets["grammar"] | sets["kin_titles"] | (sets["months"] if is_dated else frozenset())
        return all(token.low in small or token.low[:1].isdigit() or self._was_said(token.low) for token in words)

    def _was_said(self, low: str) -> bool:
        if low in self._seen:
            return True
        stem = stem_word(low)
        self._known.update(map(stem_word, self._unread.pop(stem[:1], ())))
        return stem in self._known


def _last_question(text: str) -> str:
    parts = [part for part in text.replace("?", "?\n").splitlines() if part.strip().endswith("?")]
    return parts[-1].strip() if parts else text
