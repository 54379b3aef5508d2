"""A process that runs one scheduled job over a vault and is killed by its parent behind a batch.

It waits for one line of JSON on its input: `{"folder", "root", "now", "job"}`, with `batch` for deeds a batch at most,
and prints a line for every batch that is saved and one for the end.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from consolidation_rig import READERS
from engine_rig import HandClock, rig_at

from core.engine.jobs import runner
from core.events import Changed, Event
from core.types.lifecycle import JobType


def main(order: dict[str, Any]) -> None:
    """Run it."""
    job = JobType(order["job"])
    if "batch" in order:
        runner._BATCH = runner._MOST = order["batch"]

    def heard(event: Event) -> None:
        if isinstance(event, Changed) and event.verb == job.value:
            sys.stdout.write("batch\n")
            sys.stdout.flush()

    folder, root = Path(order["folder"]), bytes.fromhex(order["root"])
    with rig_at(folder, clock=HandClock(order["now"]), root=root, readers=READERS) as rig:
        rig.engine.hub.subscribe(heard)
        row = rig.engine.jobs.run(job).result(60)
        sys.stdout.write(f"ended {row.state.value}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(json.loads(sys.stdin.readline()))
