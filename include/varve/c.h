// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C API: RocksDB 11's names, signatures and values, so that programs and bindings made for its
// librocksdb.so run on this library. Each declaration's mark says whether it does what it is for,
// or is there to be found and to say no: see varve/c/types.h, and varve/c/README.md for a list.
//
// Conventions:
//   Errors    are malloc'ed texts. A function that can fail takes `char** errptr` last. *errptr is
//             null or such a text when it is called; on failure the old text is freed and the new
//             one put there, on success it stays as it was. A null errptr drops the error.
//   Results   that are malloc'ed, and errors, are released with rocksdb_free. Handles are released
//             with their own ..._destroy or ..._close function, all of which accept null.
//   Arguments must not be null unless it is said. Null handles are reported through errptr where
//             there is one, by the function's name, and otherwise make it do nothing or return null
//             or 0. Setters of options take null for "none" where RocksDB's do. The others, of
//             which a null comparator is one, make opening with the options fail and name the
//             setter; so does a null in place of a handle that this thread could not make.
//   Owners    Options that were given a handle of a merge operator, prefix, filter policy, filter
//             factory or listener own it, with the databases opened with them, and it need not be
//             destroyed; it may be as long as one of them holds it. Those of comparators and of
//             compaction filters may be destroyed at any time after they were given.
//   Booleans  are unsigned char, 0 or 1; other values count as 1. A few functions have bool.
//   Bytes     are a pointer and a length; they need no terminator and may be anything.
//   Threads   may use a database and options that no one changes at the same time as others;
//             iterators, write batches and pinned values belong to one thread at a time.

#include "varve/c/backup.h"
#include "varve/c/call_options.h"
#include "varve/c/callbacks.h"
#include "varve/c/db.h"
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
