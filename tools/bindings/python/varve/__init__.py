# SPDX-License-Identifier: Apache-2.0
"""Varve, an embeddable key-value engine.

    with varve.open("path") as db:
        db.put(b"key", b"value")
        print(db.get(b"key"))
        for key, value in db.iterate(prefix=b"k"):
            print(key, value)

Keys and values are bytes. A column family is named by a string; none is the default one. Objects may be used by several
threads. Calls that may wait let other threads run. A use after close() raises ClosedError, and never ends the process."""
from ._backup import Backup, Backups
from ._batch import WriteBatch
from ._database import DB, open  # pylint: disable=redefined-builtin
from ._errors import (BusyError, ClosedError, CorruptionError, InvalidArgumentError, IOFailure, MergeError, NotFoundError,
                      NotSupportedError, TimedOutError, VarveError)
from ._merge import MergeOperator
from ._reads import Snapshot
from ._transaction import Transaction

__version__ = "0.1.0"
__all__ = ["Backup", "Backups", "BusyError", "ClosedError", "CorruptionError", "DB", "InvalidArgumentError", "IOFailure",
           "MergeError", "MergeOperator", "NotFoundError", "NotSupportedError", "Snapshot", "TimedOutError", "Transaction",
           "VarveError", "WriteBatch", "open"]
