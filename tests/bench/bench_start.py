"""How long the command line takes to start: bare Python, help, a verb of an engine that runs, a cold verb.

    python3 packaging/bootstrap.py setup, then: .venv/bin/python tests/bench/bench_start.py [--runs N]

The vault is made anew in a temporary folder, with the cheapest key, so that what is measured is the start and not the
key derivation. The cold verb opens the vault in its own process. Told are the median of the seconds and the least
processor time, which a machine at work raises the least; the ratio to bare Python is what two machines can compare.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PASSPHRASE = "a key for measuring"
QUESTION = "where are the spare keys?"
_MAKE = """
import sys
from pathlib import Path
from core.engine.facade import Home, HomeKeys, create_vault
from core.security.passphrase import KdfCost
from core.types.clock import SystemClock
create_vault(HomeKeys(Home(Path(sys.argv[1]))), sys.argv[2], SystemClock(), cost=KdfCost.lowest())
"""


def main(arguments: Sequence[str]) -> int:
    """Measure and print the table.

    Returns:
        0.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9, help="How often each is started.")
    runs = parser.parse_args(arguments).runs
    with tempfile.TemporaryDirectory(prefix="loci-start-") as folder:
        measured = _measure(Path(folder), runs)
    bare = measured[0]
    print(f"{f'{runs} runs':<36}{'seconds':>9}{'ratio':>7}{'processor':>11}{'ratio':>7}")
    for what, took, used in measured:
        print(f"{what:<36}{took:>9.3f}{took / bare[1]:>7.1f}{used:>11.3f}{used / bare[2]:>7.1f}")
    return 0


def _measure(folder: Path, runs: int) -> list[tuple[str, float, float]]:
    """What was started, the median of the seconds it took, and the least of a
    processor it used, in seconds; bare Python first."""
    home, secret = folder / "h", folder / "secret"
    secret.write_text(PASSPHRASE + "\n", encoding="utf-8")
    (folder / "run").mkdir(mode=0o700)
    variables = {
        # Without written bytecode every start would translate hundreds of files anew.
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "PYTHONPATH": str(ROOT),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "QT_QPA_PLATFORM": "offscreen",
    }
    loci = [sys.executable, "-m", "app", "--home", str(home), "--passphrase-file", str(secret)]
    _run([sys.executable, "-c", _MAKE, str(home), PASSPHRASE], variables)
    _run([*loci, "remember", "The spare keys hang behind the tide clock."], variables)
    bare = ("python -c pass", *_time_runs([sys.executable, "-c", "pass"], variables, runs))
    helped = ("loci --help", *_time_runs([sys.executable, "-m", "app", "--help"], variables, runs))
    cold = ("loci recall, opens the vault itself", *_time_runs([*loci, "recall", QUESTION], variables, runs))
    with subprocess.Popen([*loci, "serve"], env=variables, stderr=subprocess.PIPE, text=True) as engine:
        try:
            said = "" if engine.stderr is None else engine.stderr.readline()
            if "listening" not in said:
                raise SystemExit(f"the engine did not start: {said}")
            asked = ("loci recall, an engine answers", *_time_runs([*loci, "recall", QUESTION], variables, runs))
        finally:
            engine.terminate()
    return [bare, helped, asked, cold]


def _time_runs(command: Sequence[str], variables: Mapping[str, str], runs: int) -> tuple[float, float]:
    took, used = [], []
    for _ in range(runs + 1):
        begun, before = time.perf_counter(), _processor_s()
        _run(command, variables)
        took.append(time.perf_counter() - begun)
        used.append(_processor_s() - before)
    return statistics.median(took[1:]), min(used[1:])  # the first run fills the caches


def _processor_s() -> float:
    """What the processes that ended used; unlike the time that passed, it hardly grows on a machine at work."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(command: Sequence[str], variables: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[1:4])} ended with {done.returncode}: {done.stderr}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
