# SPDX-License-Identifier: Apache-2.0
"""How objects end: when nobody uses them any more, with the interpreter, and in a child process of fork().

The library's threads may call merge operators as long as a database is open, so what is open is closed before the interpreter
ends. A child process has none of those threads, and its databases are the parent's: it forgets them."""
import atexit
import os
import threading
import weakref

from . import _hot

_open = {}  # References to what is open, by id.


class Guard:
    """Lets one thread at a time use an object. A merge operator may not, as that thread may be waiting for the operator."""

    def __init__(self):
        self._lock = threading.Lock()

    def __enter__(self):
        _hot.check_outside()
        self._lock.acquire()

    def __exit__(self, *_):
        self._lock.release()

    def busy(self):
        return self._lock.locked()


def opened(thing):
    """Notes what has close() and _abandon()."""
    _open[id(thing)] = weakref.ref(thing)


def closed(thing):
    _open.pop(id(thing), None)


def finish(close, guard=None):
    """Calls what ends an object that nobody uses any more. The garbage collector finds such objects in the middle of anything:
    within a merge operator, or while this thread uses what the guard protects. Then another thread makes the call."""
    if _hot.in_operator() or (guard is not None and guard.busy()):
        threading.Thread(target=close, daemon=False).start()
    else:
        close()


def _close_all():
    try:
        for reference in list(_open.values()):
            thing = reference()
            if thing is not None:
                thing.close()
    finally:
        _hot.end_operators()


def _abandon_all():
    while _open:
        thing = _open.popitem()[1]()
        if thing is not None:
            thing._abandon()
    _hot.in_child()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_abandon_all)
