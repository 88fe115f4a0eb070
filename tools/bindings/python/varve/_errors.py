# SPDX-License-Identifier: Apache-2.0
"""The exceptions, by the status of the engine."""
import ctypes

from . import _hot
from ._library import lib


class VarveError(Exception):
    """Any error of the engine; its text says what, and where."""


class NotFoundError(VarveError):
    """A file or a database is absent. Absent keys are no errors."""


class CorruptionError(VarveError):
    """Stored bytes are damaged."""


class NotSupportedError(VarveError):
    """The library lacks a feature."""


class InvalidArgumentError(VarveError, ValueError):
    """An argument or an option is wrong; nothing was changed."""


class IOFailure(VarveError, OSError):
    """A call of the file system failed, or another process has the database open."""


class BusyError(VarveError):
    """Another call or transaction is in the way; a repetition may succeed."""


class TimedOutError(VarveError, TimeoutError):
    """Another transaction has kept a lock for too long."""


class MergeError(VarveError):
    """A merge operator has raised the exception that is this one's cause; its text is in this one's."""


class ClosedError(VarveError):
    """The object was closed, or its database was."""


_CLASSES = {"NotFound": NotFoundError, "Corruption": CorruptionError, "Not implemented": NotSupportedError,
            "Invalid argument": InvalidArgumentError, "IO error": IOFailure, "Resource busy": BusyError,
            "Operation failed. Try again.": BusyError, "Operation timed out": TimedOutError}


def raise_status(text, failure):
    """Raises the exception of an error's text. `failure` is what a merge operator has raised meanwhile, or None."""
    if failure is None:
        raise _CLASSES.get(text.split(":", 1)[0], VarveError)(text)
    if not isinstance(failure, Exception):
        raise failure  # KeyboardInterrupt, for instance, is for the program and no error of the database.
    raise MergeError(f"{text}: {type(failure).__name__}: {failure}") from failure


_hot.load(lib.path, raise_status, ClosedError)


class ErrorSlot:
    """Receives the error of one call at a time."""

    def __init__(self):
        self._text = ctypes.c_void_p()
        self.ref = ctypes.byref(self._text)

    def check(self):
        """Raises the error if there is one."""
        if self._text.value is None:
            return
        text = ctypes.string_at(self._text.value).decode("utf-8", "replace")
        lib.free(self._text)
        self._text.value = None
        raise_status(text, _hot.take_failure())
