# SPDX-License-Identifier: Apache-2.0
"""Databases.

Handles of the library must not be used after their database is closed. A DB therefore counts the calls that are being made,
in its gate; close() waits for them, and ends all iterators, snapshots and transactions first. Calls that are made often go
through the gate (_hot.cc), the others through ctypes."""
import ctypes
import os
import threading

from . import _hot
from ._batch import WriteBatch
from ._errors import ClosedError, ErrorSlot, NotSupportedError, raise_status
from ._library import lib, sized, take, to_bytes, to_text
from ._life import closed, finish, opened
from ._merge import MergeOperator
from ._reads import Entries, Snapshot, check_snapshot, key_range
from ._transaction import Transaction


class _Scratch(threading.local):
    """The place for the error of a thread's call."""

    def __init__(self):
        self.error = ErrorSlot()


class _Plain:
    """How a database without transactions is opened, written and closed: by these functions, and by its own handle."""
    locking = None  # The handle of writes, if they take locks.
    open = lib.open_column_families
    write, merge, create_family = lib.write, lib.merge_cf, lib.create_column_family

    def base(self, opened_db):
        """Returns the handle for reads, and for writes that take no locks."""
        return opened_db

    def begin(self, *_):
        raise NotSupportedError("Not implemented: the database was opened without transactions")

    def close(self, base):
        lib.close(base)


class _Optimistic(_Plain):
    """How a database is used whose transactions find conflicts when they are committed."""
    open = lib.optimistictransactiondb_open_column_families
    _db = None

    def base(self, opened_db):
        self._db = opened_db
        return lib.optimistictransactiondb_get_base_db(opened_db)

    def begin(self, writes, snapshot, timeout, detect):
        if timeout is not None or detect:
            raise ValueError("the database takes no locks")
        options = lib.optimistictransaction_options_create()
        lib.optimistictransaction_options_set_set_snapshot(options, snapshot)
        try:
            return lib.optimistictransaction_begin(self._db, writes, options, None)
        finally:
            lib.optimistictransaction_options_destroy(options)

    def close(self, base):
        lib.optimistictransactiondb_close_base_db(base)
        lib.optimistictransactiondb_close(self._db)


class _Pessimistic(_Plain):
    """How a database is used whose writes and transactions lock keys."""
    write, merge = lib.transactiondb_write, lib.transactiondb_merge_cf
    create_family = lib.transactiondb_create_column_family

    def open(self, options, *arguments):
        own_options = lib.transactiondb_options_create()
        try:
            return lib.transactiondb_open_column_families(options, own_options, *arguments)
        finally:
            lib.transactiondb_options_destroy(own_options)

    def base(self, opened_db):
        self.locking = opened_db
        return lib.transactiondb_get_base_db(opened_db)

    def begin(self, writes, snapshot, timeout, detect):
        options = lib.transaction_options_create()
        lib.transaction_options_set_set_snapshot(options, snapshot)
        lib.transaction_options_set_deadlock_detect(options, detect)
        if timeout is not None:
            lib.transaction_options_set_lock_timeout(options, timeout)
        try:
            return lib.transaction_begin(self.locking, writes, options, None)
        finally:
            lib.transaction_options_destroy(options)

    def close(self, base):
        lib.transactiondb_close_base_db(base)
        lib.transactiondb_close(self.locking)


_KINDS = {None: _Plain, "optimistic": _Optimistic, "pessimistic": _Pessimistic}


def open(path, *, options="", create=True, read_only=False,  # pylint: disable=redefined-builtin
         transactions=None, merge_operator=None):
    """Opens the database in a directory, with all its column families.

    `options` is a text such as "write_buffer_size=1M;compression=kZSTD" for all families, and `merge_operator` a MergeOperator;
    built-in ones are named in the text. `transactions` is "pessimistic", for transactions that lock keys, or "optimistic", for
    transactions that fail if others have changed a key."""
    return DB(path, options=options, create=create, read_only=read_only, transactions=transactions,
              merge_operator=merge_operator)


class DB:
    """An open database. Made by open()."""

    def __init__(self, path, *, options="", create=True, read_only=False, transactions=None, merge_operator=None):
        if transactions not in _KINDS:
            raise ValueError("transactions are pessimistic or optimistic")
        if read_only and transactions is not None:
            raise ValueError("a database that is opened for reading has no transactions")
        if not (merge_operator is None or isinstance(merge_operator, MergeOperator)):
            raise TypeError("a MergeOperator is needed, not " + type(merge_operator).__name__)
        path = to_text(path, "the path")
        _hot.check_outside()
        self._kind = _KINDS[transactions]()
        self._gate = _hot.Gate()
        self._closing = threading.RLock()
        self._families = {}
        self._replaced = []  # Handles of dropped families whose names are used again.
        self._handles = {}  # Ends of open iterators, snapshots and transactions. Who removes one, calls it.
        self._scratch = _Scratch()
        self._reads = lib.readoptions_create()
        self._writes = {sync: lib.writeoptions_create() for sync in (False, True)}
        lib.writeoptions_set_sync(self._writes[True], 1)
        self._options = lib.options_create()
        _hot.take_failure()
        self._set_options(options, create and not read_only, merge_operator)
        self._open(path, read_only)
        opened(self)

    def _set_options(self, text, create, merge_operator):
        if text:
            error, base = ErrorSlot(), self._options
            self._options = lib.options_create()
            lib.get_options_from_string(base, to_text(text, "the options"), self._options, error.ref)
            lib.options_destroy(base)
            error.check()
        lib.options_set_create_if_missing(self._options, create)
        if merge_operator is not None:
            merge_operator._give_to(self._options)

    def _open(self, path, read_only):
        error = ErrorSlot()
        names = self._list(path) if os.path.exists(os.path.join(os.fsdecode(path), "CURRENT")) else [b"default"]
        count = len(names)
        handles = (ctypes.c_void_p * count)()
        arguments = [self._options, path, count, (ctypes.c_char_p * count)(*names),
                     (ctypes.c_void_p * count)(*[self._options] * count), handles]
        if read_only:
            db = lib.open_for_read_only_column_families(*arguments, 0, error.ref)
        else:
            db = self._kind.open(*arguments, error.ref)
        error.check()
        self._families = {name.decode("utf-8", "surrogateescape"): handle for name, handle in zip(names, handles)}
        self._default = self._families["default"]
        self._gate.open(self._kind.base(db), self._kind.locking or 0)

    def _list(self, path):
        error, count = ErrorSlot(), ctypes.c_size_t()
        names = lib.list_column_families(self._options, path, ctypes.byref(count), error.ref)
        error.check()
        try:
            return [names[i] for i in range(count.value)]
        finally:
            lib.list_column_families_destroy(names, count)

    # ---- Lifetime ----

    def close(self):
        """Ends all iterators, snapshots and transactions, waits for calls of other threads, and closes. May be called again."""
        _hot.check_outside()
        with self._closing:
            if self._options is None:
                return
            db = self._gate.close()
            options, self._options = self._options, None
            while self._handles:
                self._handles.popitem()[1](db)
            for handle in [*self._families.values(), *self._replaced]:
                lib.column_family_handle_destroy(handle)
            if db:
                self._kind.close(db)
            lib.options_destroy(options)
            lib.readoptions_destroy(self._reads)
            for writes in self._writes.values():
                lib.writeoptions_destroy(writes)
            closed(self)

    def _abandon(self):
        """Forgets the database, which is the parent's process."""
        self._gate.abandon()
        self._options = None
        self._handles.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_options", None):
            finish(self.close)

    def _end(self, owner):
        """Gives the handles of an iterator or a snapshot back, unless close() does."""
        try:
            with self._gate as db:
                end = self._handles.pop(id(owner), None)
                if end is not None:
                    end(db)
        except ClosedError:
            pass

    def _family(self, name):
        try:
            return self._families["default" if name is None else name]
        except KeyError:
            raise KeyError("there is no column family " + repr(name)) from None

    # ---- Reading ----

    def get(self, key, *, family=None, snapshot=None):
        """Returns the value of a key, or None."""
        handle = self._default if family is None else self._family(family)
        if snapshot is None:
            return self._gate.get(key, handle, self._reads)
        check_snapshot(snapshot)
        with snapshot._guard:
            snapshot._pointer(self)
            return self._gate.get(key, handle, snapshot._options)

    def __contains__(self, key):
        return self.get(key) is not None

    def iterate(self, *, prefix=None, start=None, end=None, reverse=False, family=None, snapshot=None):
        """Yields pairs of key and value in order: those that begin with a prefix, or from `start` to before `end`."""
        def make(db, options, handle):
            if snapshot is None:
                return lib.create_iterator_cf(db, options, handle)
            with snapshot._guard:
                lib.readoptions_set_snapshot(options, snapshot._pointer(self))
                return lib.create_iterator_cf(db, options, handle)

        if snapshot is not None:
            check_snapshot(snapshot)
        return Entries(self, None, make, keys=key_range(prefix, start, end), reverse=reverse, family=family)

    def snapshot(self):
        """Returns the state of this moment, for get() and iterate()."""
        return Snapshot(self)

    # ---- Writing ----

    def put(self, key, value, *, family=None, sync=False):
        """Sets the value of a key."""
        handle = self._default if family is None else self._family(family)
        self._gate.put(key, value, handle, self._writes[bool(sync)])

    def merge(self, key, operand, *, family=None, sync=False):
        """Merges an operand into the value, by the merge operator of the database."""
        key, operand = to_bytes(key), to_bytes(operand)
        with self._gate as db:
            error = self._scratch.error
            self._kind.merge(self._kind.locking or db, self._writes[bool(sync)], self._family(family), *sized(key, operand),
                             error.ref)
            error.check()

    def delete(self, key, *, family=None, sync=False):
        """Deletes a key, which may be absent."""
        handle = self._default if family is None else self._family(family)
        self._gate.delete(key, handle, self._writes[bool(sync)])

    def delete_range(self, start, end, *, family=None, sync=False):
        """Deletes the keys from `start` to before `end`."""
        batch = self.batch()
        batch.delete_range(start, end, family=family)
        self.write(batch, sync=sync)

    def write(self, batch, *, sync=False):
        """Makes all changes of a batch at once."""
        if not isinstance(batch, WriteBatch):
            raise TypeError("a WriteBatch is needed, not " + type(batch).__name__)
        with batch._guard:
            if batch._db is not self:
                raise ValueError("the batch was made for another database")
            with self._gate as db:
                error = self._scratch.error
                self._kind.write(self._kind.locking or db, self._writes[bool(sync)], batch._pointer(), error.ref)
                error.check()

    def batch(self):
        """Returns an empty batch. As a context it is written when the block ends without an exception."""
        return WriteBatch(self)

    def transaction(self, *, snapshot=False, sync=False, lock_timeout=None, deadlock_detect=False):
        """Begins a transaction. With `snapshot` it reads the state of this moment only, and fails for keys that others change
        after it. A database that takes locks also has `lock_timeout`, how many seconds a call waits for one, by default 1, and
        `deadlock_detect`, which fails a call with BusyError when transactions wait for each other."""
        timeout = None if lock_timeout is None else round(lock_timeout * 1000)
        if timeout is not None and not 0 <= timeout < 1 << 40:
            raise ValueError("the time is out of range")

        def begin():
            return self._kind.begin(self._writes[bool(sync)], bool(snapshot), timeout, bool(deadlock_detect))

        return Transaction(self, begin, snapshot=bool(snapshot))

    # ---- Families and the rest ----

    def families(self):
        """Returns the names of the column families, also of dropped ones."""
        return sorted(self._families)

    def create_family(self, name):
        """Creates a column family with the options of the database."""
        text, error = to_text(name, "the name"), ErrorSlot()
        if not isinstance(name, str):
            raise TypeError("the name of a column family is a str")
        with self._gate as db:
            handle = self._kind.create_family(self._kind.locking or db, self._options, text, error.ref)
            error.check()
            old = self._families.get(name)
            if old is not None:
                self._replaced.append(old)
            self._families[name] = handle

    def drop_family(self, name):
        """Deletes a column family with all its keys. Its name stays known until the database is closed."""
        error = ErrorSlot()
        with self._gate as db:
            lib.drop_column_family(db, self._family(name), error.ref)
            error.check()

    def flush(self, *, family=None):
        """Writes what is in memory to tables."""
        error = ErrorSlot()
        with self._gate as db:
            handle, options = self._family(family), lib.flushoptions_create()
            lib.flush_cf(db, options, handle, error.ref)
            lib.flushoptions_destroy(options)
            error.check()

    def compact(self, start=None, end=None, *, family=None):
        """Merges the tables of a range of keys, or of all. MergeError: the operands of keys whose operator raised are as they
        were; all else is done."""
        start, end = (None if text is None else to_bytes(text) for text in (start, end))
        with self._gate as db:
            lib.compact_range_cf(db, self._family(family), start, len(start or b""), end, len(end or b""))
            failure = _hot.take_failure()
        if failure is not None:
            raise_status("a compaction has kept operands", failure)

    def checkpoint(self, directory):
        """Makes a copy of the database in a directory that does not exist."""
        target, error = to_text(directory, "the directory"), ErrorSlot()
        with self._gate as db:
            maker = lib.checkpoint_object_create(db, error.ref)
            error.check()
            lib.checkpoint_create(maker, target, 0, error.ref)
            lib.checkpoint_object_destroy(maker)
            error.check()

    def property(self, name, *, family=None):
        """Returns a property such as "rocksdb.stats" as text, or None if there is none of that name."""
        name = to_text(name, "the name")
        with self._gate as db:
            text = take(lib.property_value_cf(db, self._family(family), name))
        return None if text is None else text.decode("utf-8", "replace")

    def metrics(self, form="prometheus"):
        """Returns all metrics as the text of Prometheus, or as "json"."""
        if form not in ("prometheus", "json"):
            raise ValueError("the form is prometheus or json")
        error = ErrorSlot()
        with self._gate as db:
            text = take((lib.metrics_text if form == "prometheus" else lib.metrics_json)(db, error.ref))
            error.check()
        return text.decode("utf-8", "replace")
