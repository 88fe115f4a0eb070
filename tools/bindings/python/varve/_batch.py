# SPDX-License-Identifier: Apache-2.0
"""Changes that are made together."""
from ._errors import ClosedError
from ._library import lib, sized, to_bytes
from ._life import Guard, finish


class WriteBatch:
    """Changes that are made together. Made by DB.batch()."""

    def __init__(self, db):
        self._db = db
        self._guard = Guard()
        self._batch = lib.writebatch_create()

    def _pointer(self):
        if not self._batch:
            raise ClosedError("the batch is closed")
        return self._batch

    def _add(self, function, family, *texts):
        with self._guard, self._db._gate:
            function(self._pointer(), self._db._family(family), *sized(*texts))

    def put(self, key, value, *, family=None):
        """Adds a change like DB.put; so do the following methods."""
        self._add(lib.writebatch_put_cf, family, to_bytes(key), to_bytes(value))

    def merge(self, key, operand, *, family=None):
        self._add(lib.writebatch_merge_cf, family, to_bytes(key), to_bytes(operand))

    def delete(self, key, *, family=None):
        self._add(lib.writebatch_delete_cf, family, to_bytes(key))

    def delete_range(self, start, end, *, family=None):
        self._add(lib.writebatch_delete_range_cf, family, to_bytes(start), to_bytes(end))

    def clear(self):
        with self._guard:
            lib.writebatch_clear(self._pointer())

    def __len__(self):
        with self._guard:
            return lib.writebatch_count(self._pointer())

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self._db.write(self)
        finally:
            self.close()

    def close(self):
        with self._guard:
            batch, self._batch = self._batch, None
            if batch:
                lib.writebatch_destroy(batch)

    def __del__(self):
        if getattr(self, "_batch", None):
            finish(self.close)
