"""The two commands: set Loci up on a fresh machine, then run or test it.

    python3 packaging/bootstrap.py setup
    python3 packaging/bootstrap.py run  [ARGS]
    python3 packaging/bootstrap.py test [ARGS]

Needs nothing but Python's standard library. Must not import anything of Loci or
of its dependencies: they do not exist yet when this file starts. This file alone
is written so that an old Python can still read it and be told what is missing.
"""

import sys

OLDEST = (3, 11)

if sys.version_info < OLDEST:
    sys.exit("Loci needs Python 3.11 or newer and this is {}.{}.".format(*sys.version_info[:2]))

import environment
import jobs
import machine

USAGE = "usage: python3 packaging/bootstrap.py setup|run|test [ARGS]"


def main(arguments: list[str]) -> int:
    """Do one job.

    Args:
        arguments: the job and what is passed on to it.

    Returns:
        The exit code: the job's own, 1 when the set-up failed, 2 for wrong usage,
        130 when stopped from the keyboard.
    """
    if not arguments or arguments[0] not in jobs.JOBS:
        print(USAGE, file=sys.stdout if arguments[:1] in (["-h"], ["--help"]) else sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    try:
        return jobs.JOBS[arguments[0]](arguments[1:])
    except (machine.NotPossibleError, environment.SetUpError) as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The next start picks up from here.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
