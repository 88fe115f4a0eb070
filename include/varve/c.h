// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C API has RocksDB 11's names, signatures and values, so that programs and bindings for
// librocksdb.so run on this library. The mark of each declaration says if the function works, or
// only exists and returns an error: see varve/c/types.h, and varve/c/README.md for a list.
//
// Conventions:
//   Errors    are malloc'ed texts. A function that can fail takes `char** errptr` last. *errptr
//             must be null or such a text when it is called; a failure frees the old text and
//             stores the new one, success leaves it unchanged. A null errptr drops the error.
//   Results   that are malloc'ed, and errors, are released with rocksdb_free. Handles are released
//             with their own ..._destroy or ..._close function, all of which accept null.
//   Arguments must not be null unless documented. Null handles are reported through errptr, if
//             there is one, with the function's name; otherwise the function does nothing or
//             returns null or 0. Setters of options accept null for "none" where RocksDB's do.
//             After other nulls, for instance a null comparator, opening with the options fails and
//             names the setter; so does a null in place of a handle that this thread failed to
//             make.
//   Owners    Options that were given a handle of a merge operator, prefix, filter policy, filter
//             factory or listener own it, together with the databases opened with them. The caller
//             may, but need not, destroy the handle while one of them holds it. Handles of
//             comparators and of compaction filters may be destroyed at any time after they were
//             given.
//   Booleans  are unsigned char, 0 or 1; other values count as 1. A few functions have bool.
//   Bytes     are a pointer and a length, may have any values, and need no terminator.
//   Threads   may share a database, and options that none of them changes; iterators, write batches
//             and pinned values belong to one thread at a time.

#include "varve/c/backup.h"
#include "varve/c/call_options.h"
#include "varve/c/callbacks.h"
#include "varve/c/db.h"
#include "varve/c/entities.h"
#include "varve/c/env.h"
#include "varve/c/files.h"
#include "varve/c/indexed_batch.h"
#include "varve/c/info.h"
#include "varve/c/iterator.h"
#include "varve/c/lacking_options.h"
#include "varve/c/listener.h"
#include "varve/c/metrics.h"
#include "varve/c/moving.h"
#include "varve/c/option_fields.h"
#include "varve/c/options.h"
#include "varve/c/remote_compaction.h"
#include "varve/c/table.h"
#include "varve/c/table_properties.h"
#include "varve/c/trace.h"
#include "varve/c/transactions.h"
#include "varve/c/types.h"
#include "varve/c/wal.h"
#include "varve/c/write_batch.h"
