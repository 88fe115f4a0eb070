# SPDX-License-Identifier: Apache-2.0
"""Snapshots, and the entries of a range of keys."""
from ._errors import ClosedError
from ._library import lib, to_bytes
from ._life import Guard, finish

# Entries that an iterator fetches in one hold of its guard, and bytes after which it fetches no more.
_BLOCK = 1000
_BLOCK_BYTES = 1 << 20


class Snapshot:
    """A state of the database. Made by DB.snapshot(); ends with close(), its block, or the database."""

    def __init__(self, db):
        self._db = db
        self._guard = Guard()  # Held by reads and by the end: they do not meet.
        self._snapshot = None
        with db._gate as pointer:
            snapshot, options = lib.create_snapshot(pointer), lib.readoptions_create()
            lib.readoptions_set_snapshot(options, snapshot)

            def end(db_pointer):
                lib.release_snapshot(db_pointer, snapshot)
                lib.readoptions_destroy(options)

            db._handles[id(self)] = end
            self._snapshot, self._options = snapshot, options
            self.sequence = lib.snapshot_get_sequence_number(snapshot)

    def _pointer(self, db):
        """Returns the library's snapshot. Requires the guard."""
        if self._db is not db:
            raise ValueError("the snapshot is of another database")
        if not self._snapshot:
            raise ClosedError("the snapshot is closed")
        return self._snapshot

    def close(self):
        """Ends the snapshot. May be called again."""
        with self._guard:
            self._snapshot = None
            self._db._end(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_snapshot", None):
            finish(self.close)


def check_snapshot(snapshot):
    """Raises an exception if it is none."""
    if not isinstance(snapshot, Snapshot):
        raise TypeError("a Snapshot is needed, not " + type(snapshot).__name__)


def key_range(prefix, start, end):
    """Returns the first key, and the one behind the last, either of which may be None."""
    if prefix is None:
        return None if start is None else to_bytes(start), None if end is None else to_bytes(end)
    if start is not None or end is not None:
        raise ValueError("a prefix excludes start and end")
    prefix = to_bytes(prefix)
    stem = prefix.rstrip(b"\xff")
    return prefix, stem[:-1] + bytes([stem[-1] + 1]) if stem else None


class Entries:
    """Yields the entries of a range, and fetches them in blocks. Ends with its last entry, close(), its transaction, or the
    database. One thread at a time may take entries or blocks; any may close it."""

    def __init__(self, db, transaction, make, *, keys, reverse, family):
        """`make` makes the library's iterator from the handles of the database, of options and of a family."""
        self._db = db
        self._transaction = transaction
        self._guard = Guard() if transaction is None else transaction._guard
        self._reverse = bool(reverse)
        self._begin = True  # The iterator is not at its first entry yet.
        self._iterator = None
        self._rest = iter(())  # What is left of the block that was fetched last.
        self._keys = keys  # The library keeps pointers to both.
        options = self._options()
        try:
            with self._guard, db._gate as pointer:
                self._keep(make(pointer, options, db._family(family)), options)
        finally:
            if self._iterator is None:
                lib.readoptions_destroy(options)

    def _options(self):
        options, (start, end) = lib.readoptions_create(), self._keys
        lib.readoptions_set_total_order_seek(options, 1)
        if start is not None:
            lib.readoptions_set_iterate_lower_bound(options, start, len(start))
        if end is not None:
            lib.readoptions_set_iterate_upper_bound(options, end, len(end))
        return options

    def _keep(self, iterator, options):
        if not iterator:
            raise MemoryError("no iterator could be made")
        keys = self._keys

        def end(_, _keys=keys):
            lib.iter_destroy(iterator)
            lib.readoptions_destroy(options)

        self._db._handles[id(self)] = end
        if self._transaction is not None:
            self._transaction._iterators.add(id(self))
        self._iterator = iterator

    def __iter__(self):
        while True:
            yield from self._rest
            block = self.block()
            if not block:
                return
            self._rest = iter(block)

    def __next__(self):
        for entry in self:
            return entry
        raise StopIteration

    def block(self):
        """Fetches the next entries, at most a thousand, as a list that is empty at the end. Entries that a loop over this
        object has fetched already are not among them."""
        with self._guard:
            if self._iterator is None:
                return []
            if id(self) not in self._db._handles:
                raise ClosedError("the iteration has ended with its transaction or its database")
            begin, self._begin = self._begin, False
            try:
                block, ended = self._db._gate.fetch(self._iterator, self._reverse, begin, _BLOCK, _BLOCK_BYTES)
            except ClosedError:
                raise
            except BaseException:
                self._destroy()
                raise
            if ended:
                self._destroy()
            return block

    def _destroy(self):
        self._iterator = None
        if self._transaction is not None:
            self._transaction._iterators.discard(id(self))
        self._db._end(self)

    def close(self):
        """Ends the iteration. May be called again."""
        with self._guard:
            self._destroy()
            self._rest = iter(())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_iterator", None):
            finish(self.close, self._guard)
