# SPDX-License-Identifier: Apache-2.0
"""Merge operators."""
from . import _hot
from ._library import lib, to_text


class MergeOperator:
    """Combines a value with the operands of DB.merge(), by functions of the program.

    `full(key, value, operands)` returns the new value, as bytes; `value` is None if there is none, and `operands` is a list,
    oldest first. `partial(key, operands)`, which need not be, returns one operand that stands for all of them, or None if it
    cannot. Grouping must not matter, nor which thread calls. The name is stored in the database, which is opened with an
    operator of this name from then on.

    They are called within reads and DB.compact(), and by threads that compact, several at a time if they let each other run.
    A function that raises fails the read of its key, or DB.compact(), with MergeError; on other threads sys.unraisablehook()
    is called. A compaction keeps the operands of such keys. Functions must not use databases, nor wait for a thread that does:
    the first raises RuntimeError."""

    def __init__(self, name, full, partial=None):
        self._name = to_text(name, "the name of the merge operator")
        if not callable(full) or not (partial is None or callable(partial)):
            raise TypeError("merge operators are functions")
        self._full, self._partial = full, partial

    def _give_to(self, options):
        """Makes a handle of the library, which options own."""
        lib.options_set_merge_operator(options, _hot.merge_operator(self._name, self._full, self._partial))
