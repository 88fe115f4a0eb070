# SPDX-License-Identifier: Apache-2.0
"""Backups of databases in a directory of their own."""
import contextlib
import ctypes
from typing import NamedTuple

from . import _hot
from ._database import DB
from ._errors import ClosedError, ErrorSlot
from ._library import lib, to_bytes, to_text
from ._life import Guard, closed, finish, opened


class Backup(NamedTuple):
    """What Backups.list() says of a backup: its number, its time in seconds since 1970, its size in bytes, the number of its
    files, and the bytes that create() was given."""
    id: int
    timestamp: int
    size: int
    files: int
    metadata: bytes


def _number(value, what):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(what + " is a number")
    if not 0 <= value < 1 << 32:
        raise ValueError(what + " is out of range")
    return value


class Backups:
    """The backups in a directory. They share the tables that they have in common.

    Only one object, of all processes, may be open that writes; any number may be open with `read_only`, for list(), verify()
    and restore(). Calls of one object wait for each other."""

    def __init__(self, directory, *, read_only=False):
        _hot.check_outside()
        self._guard = Guard()
        self._engine = None
        error, options = ErrorSlot(), lib.backup_engine_options_create(to_text(directory, "the directory"))
        open_engine = lib.backup_engine_open_read_only if read_only else lib.backup_engine_open_opts
        try:
            self._engine = open_engine(options, None, error.ref)
            error.check()
        finally:
            lib.backup_engine_options_destroy(options)
        opened(self)

    @contextlib.contextmanager
    def _call(self):
        """Gives the library's object and a place for an error, which is raised at the end."""
        error = ErrorSlot()
        with self._guard:
            if not self._engine:
                raise ClosedError("the backups are closed")
            _hot.take_failure()
            yield self._engine, error.ref
            error.check()

    def create(self, db, *, metadata=b"", flush=False):
        """Makes a backup of an open database, and returns its number. `flush` includes what was written without a log."""
        if not isinstance(db, DB):
            raise TypeError("a DB is needed, not " + type(db).__name__)
        metadata, number, options = to_bytes(metadata), ctypes.c_uint32(), lib.create_backup_options_create()
        try:
            lib.create_backup_options_set_flush_before_backup(options, bool(flush))
            with self._call() as (engine, error), db._gate as pointer:
                lib.backup_engine_create_new_backup_with_metadata(engine, pointer, options, metadata, len(metadata),
                                                                  ctypes.byref(number), error)
        finally:
            lib.create_backup_options_destroy(options)
        return number.value

    def list(self):
        """Returns the backups, the oldest first."""
        with self._call() as (engine, _):
            info = lib.backup_engine_get_backup_info(engine)
            try:
                return [self._backup(info, i) for i in range(lib.backup_engine_info_count(info))]
            finally:
                lib.backup_engine_info_destroy(info)

    @staticmethod
    def _backup(info, i):
        size = ctypes.c_size_t()
        metadata = lib.backup_engine_info_app_metadata(info, i, ctypes.byref(size))
        return Backup(lib.backup_engine_info_backup_id(info, i), lib.backup_engine_info_timestamp(info, i),
                      lib.backup_engine_info_size(info, i), lib.backup_engine_info_number_files(info, i),
                      ctypes.string_at(metadata, size.value) if size.value else b"")

    def verify(self, number):
        """Raises an exception if a file of the backup is missing or has another size. restore() compares checksums."""
        number = _number(number, "the backup")
        with self._call() as (engine, error):
            lib.backup_engine_verify_backup(engine, number, error)

    def restore(self, directory, number=None):
        """Puts a backup, or the latest one, in place of the database in a directory, which must not be open."""
        directory = to_text(directory, "the directory")
        number = None if number is None else _number(number, "the backup")
        options = lib.restore_options_create()
        try:
            with self._call() as (engine, error):
                if number is None:
                    lib.backup_engine_restore_db_from_latest_backup(engine, directory, directory, options, error)
                else:
                    lib.backup_engine_restore_db_from_backup(engine, directory, directory, options, number, error)
        finally:
            lib.restore_options_destroy(options)

    def delete(self, number):
        """Deletes a backup."""
        number = _number(number, "the backup")
        with self._call() as (engine, error):
            lib.backup_engine_delete_backup(engine, number, error)

    def purge(self, keep):
        """Deletes all backups but the `keep` latest ones."""
        keep = _number(keep, "the number of backups")
        with self._call() as (engine, error):
            lib.backup_engine_purge_old_backups(engine, keep, error)

    def close(self):
        """Waits for calls of other threads, and closes. May be called again."""
        with self._guard:
            engine, self._engine = self._engine, None
            if engine:
                lib.backup_engine_close(engine)
                closed(self)

    def _abandon(self):
        self._engine = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_engine", None):
            finish(self.close)
