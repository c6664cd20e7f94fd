"""Another process on the same store: obeys one word per line, answers one line each."""

import sys

from xeforge.adapters.local_worker import local_worker
from xeforge.adapters.sql_store import SqlStore
from xeforge.adapters.system_clock import SystemClock
from xeforge.domain.attempt import Attempt
from xeforge.domain.codec import loads
from xeforge.domain.events import Gated
from xeforge.errors import LeaseLost
from xeforge.errors import StoreConflict


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def obey(store: SqlStore, words: list[str]) -> str:
    match words:
        case ["lease", job, step]:
            return str(store.lease(job, step, worker=local_worker(), seconds=1800).token)
        case ["record", attempt]:
            return str(len(store.record(loads(Attempt, attempt), Gated("t1", ())).records))
    raise ValueError(words)


def main() -> None:
    say("ready")
    sys.stdin.readline()
    store = SqlStore(sys.argv[1], SystemClock())
    say("open")
    for line in sys.stdin:
        try:
            say(obey(store, line.split()))
        except (LeaseLost, StoreConflict) as error:
            say(type(error).__name__)
    store.close()


if __name__ == "__main__":
    main()
