# SPDX-License-Identifier: Apache-2.0
"""Finds the shared library, and declares the functions of its C API that this package calls through ctypes.

The calls that programs make often are in _hot.cc instead: get, put, delete, and blocks of an iterator; merge operators are in
_operator.cc."""
import ctypes
import ctypes.util
import os
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_ubyte, c_uint32, c_uint64, c_void_p

_ERROR = POINTER(c_void_p)
_BYTES = (c_char_p, c_size_t)
_FAMILIES = (c_int, POINTER(c_char_p), POINTER(c_void_p), POINTER(c_void_p))

# The result and the arguments of each function, without the prefix that all have.
_FUNCTIONS = {
    "free": (None, c_void_p),
    "options_create": (c_void_p,),
    "options_destroy": (None, c_void_p),
    "options_set_create_if_missing": (None, c_void_p, c_ubyte),
    "get_options_from_string": (None, c_void_p, c_char_p, c_void_p, _ERROR),
    "list_column_families": (POINTER(c_char_p), c_void_p, c_char_p, POINTER(c_size_t), _ERROR),
    "list_column_families_destroy": (None, POINTER(c_char_p), c_size_t),
    "options_set_merge_operator": (None, c_void_p, c_void_p),
    "open_column_families": (c_void_p, c_void_p, c_char_p, *_FAMILIES, _ERROR),
    "open_for_read_only_column_families": (c_void_p, c_void_p, c_char_p, *_FAMILIES, c_ubyte, _ERROR),
    "close": (None, c_void_p),
    "create_column_family": (c_void_p, c_void_p, c_void_p, c_char_p, _ERROR),
    "drop_column_family": (None, c_void_p, c_void_p, _ERROR),
    "column_family_handle_destroy": (None, c_void_p),
    "readoptions_create": (c_void_p,),
    "readoptions_destroy": (None, c_void_p),
    "readoptions_set_snapshot": (None, c_void_p, c_void_p),
    "readoptions_set_iterate_lower_bound": (None, c_void_p, *_BYTES),
    "readoptions_set_iterate_upper_bound": (None, c_void_p, *_BYTES),
    "readoptions_set_total_order_seek": (None, c_void_p, c_ubyte),
    "writeoptions_create": (c_void_p,),
    "writeoptions_destroy": (None, c_void_p),
    "writeoptions_set_sync": (None, c_void_p, c_ubyte),
    "flushoptions_create": (c_void_p,),
    "flushoptions_destroy": (None, c_void_p),
    "merge_cf": (None, c_void_p, c_void_p, c_void_p, *_BYTES, *_BYTES, _ERROR),
    "write": (None, c_void_p, c_void_p, c_void_p, _ERROR),
    "writebatch_create": (c_void_p,),
    "writebatch_destroy": (None, c_void_p),
    "writebatch_clear": (None, c_void_p),
    "writebatch_count": (c_int, c_void_p),
    "writebatch_put_cf": (None, c_void_p, c_void_p, *_BYTES, *_BYTES),
    "writebatch_delete_cf": (None, c_void_p, c_void_p, *_BYTES),
    "writebatch_merge_cf": (None, c_void_p, c_void_p, *_BYTES, *_BYTES),
    "writebatch_delete_range_cf": (None, c_void_p, c_void_p, *_BYTES, *_BYTES),
    "create_iterator_cf": (c_void_p, c_void_p, c_void_p, c_void_p),
    "iter_destroy": (None, c_void_p),
    "create_snapshot": (c_void_p, c_void_p),
    "release_snapshot": (None, c_void_p, c_void_p),
    "snapshot_get_sequence_number": (c_uint64, c_void_p),
    "property_value_cf": (c_void_p, c_void_p, c_void_p, c_char_p),
    "flush_cf": (None, c_void_p, c_void_p, c_void_p, _ERROR),
    "compact_range_cf": (None, c_void_p, c_void_p, *_BYTES, *_BYTES),
    "checkpoint_object_create": (c_void_p, c_void_p, _ERROR),
    "checkpoint_object_destroy": (None, c_void_p),
    "checkpoint_create": (None, c_void_p, c_char_p, c_uint64, _ERROR),
    "metrics_text": (c_void_p, c_void_p, _ERROR),
    "metrics_json": (c_void_p, c_void_p, _ERROR),
    # Databases with transactions
    "transactiondb_options_create": (c_void_p,),
    "transactiondb_options_destroy": (None, c_void_p),
    "transactiondb_open_column_families": (c_void_p, c_void_p, c_void_p, c_char_p, *_FAMILIES, _ERROR),
    "transactiondb_get_base_db": (c_void_p, c_void_p),
    "transactiondb_close_base_db": (None, c_void_p),
    "transactiondb_close": (None, c_void_p),
    "transactiondb_create_column_family": (c_void_p, c_void_p, c_void_p, c_char_p, _ERROR),
    "transactiondb_merge_cf": (None, c_void_p, c_void_p, c_void_p, *_BYTES, *_BYTES, _ERROR),
    "transactiondb_write": (None, c_void_p, c_void_p, c_void_p, _ERROR),
    "optimistictransactiondb_open_column_families": (c_void_p, c_void_p, c_char_p, *_FAMILIES, _ERROR),
    "optimistictransactiondb_get_base_db": (c_void_p, c_void_p),
    "optimistictransactiondb_close_base_db": (None, c_void_p),
    "optimistictransactiondb_close": (None, c_void_p),
    # Transactions
    "transaction_options_create": (c_void_p,),
    "transaction_options_destroy": (None, c_void_p),
    "transaction_options_set_set_snapshot": (None, c_void_p, c_ubyte),
    "transaction_options_set_lock_timeout": (None, c_void_p, c_int64),
    "transaction_options_set_deadlock_detect": (None, c_void_p, c_ubyte),
    "transaction_begin": (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "optimistictransaction_options_create": (c_void_p,),
    "optimistictransaction_options_destroy": (None, c_void_p),
    "optimistictransaction_options_set_set_snapshot": (None, c_void_p, c_ubyte),
    "optimistictransaction_begin": (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "transaction_destroy": (None, c_void_p),
    "transaction_commit": (None, c_void_p, _ERROR),
    "transaction_rollback": (None, c_void_p, _ERROR),
    "transaction_set_savepoint": (None, c_void_p),
    "transaction_rollback_to_savepoint": (None, c_void_p, _ERROR),
    "transaction_get_snapshot": (c_void_p, c_void_p),
    "transaction_get_cf": (c_void_p, c_void_p, c_void_p, c_void_p, *_BYTES, POINTER(c_size_t), _ERROR),
    "transaction_get_for_update_cf": (c_void_p, c_void_p, c_void_p, c_void_p, *_BYTES, POINTER(c_size_t), c_ubyte,
                                      _ERROR),
    "transaction_put_cf": (None, c_void_p, c_void_p, *_BYTES, *_BYTES, _ERROR),
    "transaction_merge_cf": (None, c_void_p, c_void_p, *_BYTES, *_BYTES, _ERROR),
    "transaction_delete_cf": (None, c_void_p, c_void_p, *_BYTES, _ERROR),
    "transaction_create_iterator_cf": (c_void_p, c_void_p, c_void_p, c_void_p),
    # Backups
    "backup_engine_options_create": (c_void_p, c_char_p),
    "backup_engine_options_destroy": (None, c_void_p),
    "backup_engine_open_opts": (c_void_p, c_void_p, c_void_p, _ERROR),
    "backup_engine_open_read_only": (c_void_p, c_void_p, c_void_p, _ERROR),
    "backup_engine_close": (None, c_void_p),
    "create_backup_options_create": (c_void_p,),
    "create_backup_options_destroy": (None, c_void_p),
    "create_backup_options_set_flush_before_backup": (None, c_void_p, c_ubyte),
    "backup_engine_create_new_backup_with_metadata": (None, c_void_p, c_void_p, c_void_p, *_BYTES, POINTER(c_uint32),
                                                      _ERROR),
    "backup_engine_get_backup_info": (c_void_p, c_void_p),
    "backup_engine_info_count": (c_int, c_void_p),
    "backup_engine_info_backup_id": (c_uint32, c_void_p, c_int),
    "backup_engine_info_timestamp": (c_int64, c_void_p, c_int),
    "backup_engine_info_size": (c_uint64, c_void_p, c_int),
    "backup_engine_info_number_files": (c_uint32, c_void_p, c_int),
    "backup_engine_info_app_metadata": (c_void_p, c_void_p, c_int, POINTER(c_size_t)),
    "backup_engine_info_destroy": (None, c_void_p),
    "backup_engine_verify_backup": (None, c_void_p, c_uint32, _ERROR),
    "backup_engine_delete_backup": (None, c_void_p, c_uint32, _ERROR),
    "backup_engine_purge_old_backups": (None, c_void_p, c_uint32, _ERROR),
    "restore_options_create": (c_void_p,),
    "restore_options_destroy": (None, c_void_p),
    "backup_engine_restore_db_from_backup": (None, c_void_p, c_char_p, c_char_p, c_void_p, c_uint32, _ERROR),
    "backup_engine_restore_db_from_latest_backup": (None, c_void_p, c_char_p, c_char_p, c_void_p, _ERROR),
}


def _path():
    """VARVE_LIBRARY, the library beside this file, or the system's, in that order."""
    named = os.environ.get("VARVE_LIBRARY")
    if named:
        return named
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "librocksdb.so")
    if os.path.exists(beside):
        return beside
    found = ctypes.util.find_library("rocksdb")
    if not found:
        raise ImportError("librocksdb.so of Varve was not found: set VARVE_LIBRARY to its path")
    return found


class _Library:
    """Has one attribute for each function."""

    def __init__(self):
        self.path = path = _path()
        library = ctypes.CDLL(path)
        if not hasattr(library, "rocksdb_metrics_text"):
            raise ImportError(path + " is not Varve's library")
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(library, "rocksdb_" + name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)


lib = _Library()


def to_bytes(value):
    """Returns bytes of what has the buffer protocol; text must be encoded by its owner."""
    if type(value) is bytes:
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError("bytes are needed, not " + type(value).__name__)


def to_text(value, what):
    """Returns a path or another text for C."""
    data = value.encode() if isinstance(value, str) else os.fsencode(value)
    if not data or b"\0" in data:
        raise ValueError(what + " is empty or has a zero byte")
    return data


def sized(*texts):
    """Returns each text and its size in turn, as arguments."""
    return [part for text in texts for part in (text, len(text))]


def take(pointer, size=None):
    """Returns bytes of the library, and frees them there: a text without a size. None for a null pointer."""
    if not pointer:
        return None
    try:
        return ctypes.string_at(pointer, -1 if size is None else size)
    finally:
        lib.free(pointer)
