"""The command line's verb completion: a script for the person's shell, made of the commands as they are.

The scripts hold all they need: pressing Tab starts no program and touches no vault. Must not do: name a verb or an
option here.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import click

from app.cli.root import CommandContext, loci, with_command

_FILES = frozenset({"path", "file"})


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        names: as they are typed.
        values: what it takes; empty for anything.
        takes_value: whether a value follows.
        is_file: whether that value is a file.
        about: its help, on one line.
    """

    names: tuple[str, ...]
    values: tuple[str, ...]
    takes_value: bool
    is_file: bool
    about: str


@dataclass(frozen=True, slots=True)
class VerbCompletion:
    """One verb with its options; the name "" stands for the options before every verb.

    Attributes:
        values: words its arguments can be; `is_file` where one of them is a file.
    """

    name: str
    about: str
    options: tuple[Option, ...]
    values: tuple[str, ...]
    is_file: bool


def list_verbs(group: click.Group) -> Iterator[VerbCompletion]:
    """Every verb of a group, behind the group itself.

    Args:
        group: of the command line.

    Yields:
        The group's own options, then the verbs by name.
    """
    context = click.Context(group)
    yield _completion_verb("", group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield _completion_verb(name, command)


def _completion_verb(name: str, command: click.Command) -> VerbCompletion:
    options: list[Option] = []
    values: list[str] = []
    is_file = False
    for parameter in command.get_params(click.Context(command)):
        choices = _list_choices(parameter)
        if isinstance(parameter, click.Option):
            names = (*parameter.opts, *parameter.secondary_opts)
            takes = not (parameter.is_flag or parameter.count)
            about = _one_line(parameter.help or "")
            options.append(Option(names, choices, takes, takes and _is_file(parameter), about))
        else:
            values += choices
            is_file = is_file or _is_file(parameter)
    if name:
        options.append(Option(("--json",), (), takes_value=False, is_file=False, about="One JSON document."))
    about = _one_line(command.get_short_help_str(200))
    return VerbCompletion(name, about, tuple(options), tuple(values), is_file)


def _list_choices(parameter: click.Parameter) -> tuple[str, ...]:
    return tuple(map(str, parameter.type.choices)) if isinstance(parameter.type, click.Choice) else ()


def _is_file(parameter: click.Parameter) -> bool:
    return isinstance(parameter.type, click.Path) or parameter.name in _FILES


def _one_line(text: str) -> str:
    return " ".join(text.split())


def write_bash_script(verbs: Sequence[VerbCompletion]) -> str:
    """A script for bash.

    Args:
        verbs: from `walk`.
    """
    after_value = "|".join(name for option in verbs[0].options if option.takes_value for name in option.names)
    lines = [
        "# source <(loci completion bash), or: loci completion bash > ~/.local/share/bash-completion/completions/loci",
        "_loci() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= words= files= at",
        "    # Bash takes `--sort=re` apart into `--sort`, `=` and `re`.",
        "    [[ $word == = ]] && word=",
        "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}",
        "    for ((at = 1; at < COMP_CWORD; at++)); do",
        "        case ${COMP_WORDS[at]} in",
        f"            {after_value}) ((at++)) ;;",
        "            -*) ;;",
        "            *) verb=${COMP_WORDS[at]}; break ;;",
        "        esac",
        "    done",
        '    case "$verb $before" in',
        *(line for verb in verbs for line in _bash_values(verb)),
        '        *) case "$verb:$word" in',
        *(line for verb in verbs for line in _bash_words(verb, verbs)),
        "        esac ;;",
        "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
        "    if [[ $files ]]; then",
        "        compopt -o filenames 2>/dev/null",
        "        local name",
        '        while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$word")',
        "    fi",
        "}",
        "complete -F _loci loci",
    ]
    return "\n".join(lines) + "\n"


def _bash_values(verb: VerbCompletion) -> Iterator[str]:
    """What may follow an option that takes a value."""
    for option in verb.options:
        if option.takes_value:
            patterns = "|".join(shlex.quote(f"{verb.name} {name}") for name in option.names)
            files = " files=1" if option.is_file else ""
            yield f"        {patterns}) words={shlex.quote(' '.join(option.values))}{files} ;;"


def _bash_words(verb: VerbCompletion, verbs: Sequence[VerbCompletion]) -> Iterator[str]:
    """What may stand anywhere else: an option, a verb, a value of an argument."""
    names = " ".join(name for option in verb.options for name in option.names)
    words = " ".join(verb.values if verb.name else (one.name for one in verbs if one.name))
    yield f"            {verb.name}:-*) words={shlex.quote(names)} ;;"
    yield f"            {verb.name}:*) words={shlex.quote(words)}{' files=1' if verb.is_file else ''} ;;"


def write_zsh_script(verbs: Sequence[VerbCompletion]) -> str:
    """A script for zsh; a file `_loci` in a folder of `fpath`.

    Args:
        verbs: from `walk`.
    """
    lines = [
        "#compdef loci",
        "# loci completion zsh > ~/.zfunc/_loci, where ~/.zfunc stands in fpath before compinit is called.",
        "",
        "_loci() {",
        "    local context state line",
        "    typeset -A opt_args",
        "    local -a verbs",
        "    verbs=(",
    ]
    lines += [f"        {_quote_zsh(f'{verb.name}:{verb.about}')}" for verb in verbs if verb.name]
    lines += ["    )", "    _arguments -C \\"]
    lines += [f"        {line} \\" for option in verbs[0].options for line in _zsh_option(option)]
    lines += ["        '1:verb:->verb' '*::argument:->argument'", "    case $state in", "        verb)"]
    lines += ["            _describe -t verbs verb verbs ;;", "        argument)", "            case $words[1] in"]
    for verb in verbs:
        if verb.name:
            option_lines = [line for option in verb.options for line in _zsh_option(option)]
            rest = f"'*:value:({' '.join(verb.values)})'" if verb.values else "'*:file:_files'" if verb.is_file else ""
            lines += [f"                {verb.name})", "                    _arguments \\"]
            lines += [f"                        {line} \\" for line in option_lines]
            lines += [f"                        {rest} ;;" if rest else "                        ;;"]
    lines += ["            esac ;;", "    esac", "}", "", '_loci "$@"']
    return "\n".join(lines) + "\n"


def _quote_zsh(text: str) -> str:
    return shlex.quote(text.replace("\n", " "))


def _zsh_option(option: Option) -> Iterator[str]:
    about = option.about.translate({ord(sign): f"\\{sign}" for sign in "[]:\\"})
    value_form = (
        f":value:({' '.join(option.values)})" if option.values else ":file:_files" if option.is_file else ":value:"
    )
    value = value_form if option.takes_value else ""
    for name in option.names:
        yield shlex.quote(f"*{name}[{about}]{value}")


def write_fish_script(verbs: Sequence[VerbCompletion]) -> str:
    """A script for fish.

    Args:
        verbs: from `walk`.
    """
    names = " ".join(verb.name for verb in verbs if verb.name)
    none = f"not __fish_seen_subcommand_from {names}"
    lines = ["# loci completion fish > ~/.config/fish/completions/loci.fish", "complete -c loci -f"]
    for verb in verbs:
        seen = f"__fish_seen_subcommand_from {verb.name}" if verb.name else none
        if verb.name:
            lines.append(f"complete -c loci -n {_quote_fish(none)} -a {verb.name} -d {_quote_fish(verb.about)}")
        if verb.values:
            lines.append(f"complete -c loci -n {_quote_fish(seen)} -a {_quote_fish(' '.join(verb.values))}")
        if verb.is_file:
            lines.append(f"complete -c loci -n {_quote_fish(seen)} -F")
        lines += [
            f"complete -c loci -n {_quote_fish(seen)} {line}"
            for option in verb.options
            for line in _fish_option(option)
        ]
    return "\n".join(lines) + "\n"


def _quote_fish(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"


def _fish_option(option: Option) -> Iterator[str]:
    names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    parts = [*names, f"-d {_quote_fish(option.about)}"]
    if option.takes_value:
        known = (
            f"-x -a {_quote_fish(' '.join(option.values))}" if option.values else "-r -F" if option.is_file else "-x"
        )
        parts.append(known)
    yield " ".join(parts)


_WRITERS: Mapping[str, Callable[[Sequence[VerbCompletion]], str]] = {
    "bash": write_bash_script,
    "zsh": write_zsh_script,
    "fish": write_fish_script,
}


@loci.command()
@click.argument("shell", type=click.Choice(list(_WRITERS)))
@with_command
def completion(command: CommandContext, shell: str) -> None:
    """Print what lets your shell complete `loci`.

    For bash: `source <(loci completion bash)`; its first line says where it goes for good.
    """
    if command.output.as_json:
        raise click.UsageError("A script is not JSON; drop --json.")
    command.output.print_raw(_WRITERS[shell](tuple(list_verbs(loci))))
