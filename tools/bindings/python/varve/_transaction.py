# SPDX-License-Identifier: Apache-2.0
"""Transactions."""
import ctypes

from ._errors import ClosedError, ErrorSlot
from ._library import lib, sized, take, to_bytes
from ._life import Guard, finish
from ._reads import Entries, key_range


class Transaction:
    """Changes that become visible together, or not at all, and that do not meet those of others. Made by DB.transaction().

    As a context it is committed when its block ends, and rolled back if that ends with an exception or the commit fails. It
    ends with commit(), rollback(), or the database; later uses raise ClosedError. Its own reads see its changes. Threads may
    use it one after another."""

    def __init__(self, db, begin, *, snapshot):
        """`begin` makes the library's transaction."""
        self._db = db
        self._guard = Guard()
        self._iterators = set()  # The keys of its iterators among the handles of the database.
        self._transaction = None
        self._has_snapshot = snapshot
        with db._gate:
            transaction = begin()
            if not transaction:
                raise MemoryError("no transaction could be made")
            reads = lib.readoptions_create()

            def end(_):
                lib.transaction_destroy(transaction)
                lib.readoptions_destroy(reads)

            db._handles[id(self)] = end
            self._transaction, self._reads = transaction, reads
            self._set_snapshot(reads)

    def _set_snapshot(self, options):
        """Lets reads with these options see the state in which the transaction began, if it has a snapshot."""
        if not self._has_snapshot:
            return
        snapshot = lib.transaction_get_snapshot(self._transaction)
        lib.readoptions_set_snapshot(options, snapshot)
        lib.free(snapshot)

    def _pointer(self):
        """Returns the library's transaction. Requires the guard."""
        if not self._transaction or id(self) not in self._db._handles:
            raise ClosedError("the transaction has ended")
        return self._transaction

    # ---- Reading ----

    def get(self, key, *, family=None):
        """Returns the value of a key, or None."""
        return self._read(lib.transaction_get_cf, key, family)

    def get_for_update(self, key, *, family=None, exclusive=True):
        """Does the same, and no other transaction changes the key from now on: it waits, or its commit fails. Others may still
        get the key for update if none is exclusive."""
        return self._read(lib.transaction_get_for_update_cf, key, family, bool(exclusive))

    def _read(self, function, key, family, *more):
        key, size, error = to_bytes(key), ctypes.c_size_t(), ErrorSlot()
        with self._guard, self._db._gate:
            transaction, handle = self._pointer(), self._db._family(family)
            value = function(transaction, self._reads, handle, key, len(key), ctypes.byref(size), *more, error.ref)
            error.check()
            return take(value, size.value)

    def iterate(self, *, prefix=None, start=None, end=None, reverse=False, family=None):
        """Yields pairs of key and value in order, as DB.iterate does. Changes of the transaction may be missing if they are
        made after the block of their keys was fetched. Ends with rollback_to_savepoint(), too."""
        def make(_, options, handle):
            transaction = self._pointer()
            self._set_snapshot(options)
            return lib.transaction_create_iterator_cf(transaction, options, handle)

        return Entries(self._db, self, make, keys=key_range(prefix, start, end), reverse=reverse, family=family)

    # ---- Writing ----

    def put(self, key, value, *, family=None):
        """Sets the value of a key. Waits for another transaction that has changed it, or finds that out in commit(); so do the
        following methods."""
        self._change(lib.transaction_put_cf, family, to_bytes(key), to_bytes(value))

    def merge(self, key, operand, *, family=None):
        self._change(lib.transaction_merge_cf, family, to_bytes(key), to_bytes(operand))

    def delete(self, key, *, family=None):
        self._change(lib.transaction_delete_cf, family, to_bytes(key))

    def _change(self, function, family, *texts):
        self._call(lambda transaction, error: function(transaction, self._db._family(family), *sized(*texts), error))

    def _call(self, function):
        error = ErrorSlot()
        with self._guard, self._db._gate:
            function(self._pointer(), error.ref)
            error.check()

    def savepoint(self):
        """Notes this state for rollback_to_savepoint()."""
        self._call(lambda transaction, _: lib.transaction_set_savepoint(transaction))

    def rollback_to_savepoint(self):
        """Undoes all changes since the last save point, and removes that. NotFoundError without one."""
        def undo(transaction, error):
            self._end_iterators(None)
            lib.transaction_rollback_to_savepoint(transaction, error)

        self._call(undo)

    # ---- The end ----

    def commit(self):
        """Makes the changes visible. BusyError: others have changed a key, and nothing was written; then, and after other
        errors, the transaction can only be rolled back."""
        self._finish(lib.transaction_commit)

    def rollback(self):
        """Drops the changes."""
        self._finish(lib.transaction_rollback)

    def _finish(self, function):
        error = ErrorSlot()
        with self._guard, self._db._gate as db:
            function(self._pointer(), error.ref)
            error.check()
            self._destroy(db)

    def _end_iterators(self, db):
        while self._iterators:
            end = self._db._handles.pop(self._iterators.pop(), None)
            if end is not None:
                end(db)

    def _destroy(self, db):
        self._end_iterators(db)
        self._transaction = None
        end = self._db._handles.pop(id(self), None)
        if end is not None:
            end(db)

    def close(self):
        """Drops the changes, unless they are committed. May be called again."""
        try:
            with self._guard, self._db._gate as db:
                self._destroy(db)
        except ClosedError:
            self._transaction = None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None and self._transaction:
                self.commit()
        finally:
            self.close()

    def __del__(self):
        if getattr(self, "_transaction", None):
            finish(self.close)
