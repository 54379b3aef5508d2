"""How a chat begins: where the model server is, and that the client is paired.

Must not do: call an address beyond this machine, or pair, without the person's word.
"""

from __future__ import annotations

from app.chat.conversation import Chat, ChatMemory
from app.chat.model_server import USUAL_HOST, ChatModelServer
from app.chat.screen import Screen, format_sentence
from app.mcp.client_setup import ClientSetup
from app.mcp.pairing import pair_client
from app.mcp.tokens import read_token
from core.errors import Code, LociError, UserError
from core.llm.server_address import ServerAddress, parse_address

# The person types here: what they say is their word, and what they put away themselves need not ask them once more.
_BASE_GRANTS = ("read", "write", "curate", "speak_for_user")
_GRANTS = {"a": (*_BASE_GRANTS, "all_spaces"), "o": _BASE_GRANTS}
_NO = ("", "n", "no")


def start_chat(setup: ClientSetup, model: str, host: str | None, *, may_start: bool) -> None:
    """Pair where that is needed, and talk until the person ends it.

    Args:
        setup: of the client that this chat is.
        model: the person's choice; "" for one that fits.
        host: the model server as `--host` names it; None for `LOCI_OLLAMA`, else this machine.
        may_start: whether the engine may be started where nobody answers.

    Raises:
        UserError: UNAUTHENTICATED where the person does not pair it; CONFIG_INVALID, ACCESS_DENIED for the address.
        LociError: as pairing.
    """
    screen = Screen()
    place = model_place(screen, host, setup.variables.get("LOCI_OLLAMA", ""))
    if not setup.variables.get("LOCI_TOKEN") and read_token(setup.token_file) is None:
        _pair_chat(setup, screen)
    Chat(ChatMemory(setup.make_link(start=may_start)), ChatModelServer(place), screen, model).run()


def model_place(screen: Screen, host: str | None, variable: str) -> ServerAddress:
    """The model server's address; one beyond this machine must be named by `--host`, and confirmed.

    Args:
        screen: where the person is asked.
        host: from `--host`.
        variable: from `LOCI_OLLAMA`.

    Returns:
        A checked address.

    Raises:
        UserError: INVALID_INPUT, of the variable CONFIG_INVALID, for what is no address; ACCESS_DENIED.
    """
    named = host or variable or USUAL_HOST
    try:
        return parse_address(named)
    except LociError as error:
        if error.code is Code.CONFIG_INVALID and host is not None:
            raise UserError(Code.INVALID_INPUT, error.sentence) from None  # a wrong value of an option
        if error.code is not Code.ACCESS_DENIED:
            raise
    if host is not None and _is_yes(screen.read_line(format_sentence("beyond", host=host))):
        return parse_address(host, beyond=True)
    raise UserError(Code.ACCESS_DENIED, format_sentence("beyond_refused"))


def _pair_chat(setup: ClientSetup, screen: Screen) -> None:
    question = format_sentence("pair", client=setup.client)
    while (answer := (screen.read_line(question) or "").strip().casefold()) not in _GRANTS:
        if answer in _NO:  # the end of input too
            raise UserError(Code.UNAUTHENTICATED, format_sentence("unpaired"))
        screen.print_line(format_sentence("pair_how"))
    pair_client(setup, None, _GRANTS[answer], "loci chat")


def _is_yes(answer: str | None) -> bool:
    return (answer or "").strip().casefold() in ("y", "yes")
