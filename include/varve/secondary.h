// SPDX-License-Identifier: Apache-2.0
#pragma once

// A secondary is a read-only view of a database that another process, the primary, writes.
//
// DB::OpenAsSecondary shows the newest state. It changes nothing in the primary's directories; the
// directory for the LOG is created if missing, and must not be one of the primary's
// (InvalidArgument). A subset of column families may be listed; those created later are not
// visible, those dropped stay readable. Calls that change a database return NotSupported. Snapshots
// and iterators are local to the secondary, and are not affected by catching up. Tables stay open;
// with max_open_files other than -1 a read may fail with IOError for a file that the primary has
// deleted, until the next catch-up.
//
// DB::TryCatchUpWithPrimary moves all column families atomically to the newest state, never back.
// After an error the secondary shows the same state as before. Aborted: the primary lost, by a
// power failure, data that was already read, or a promotion failed half-way; the secondary must be
// opened again. The same holds after an error while entries were inserted, for example for lack of
// memory: every later call, including Promote and GetSecondaryLag, returns that error.
//
// DB::OpenAsFollower opens a secondary that catches up by itself, in a thread of its own
// (DBOptions::follower_refresh_catchup_period_ms). Its directory, created if missing, must not be
// one of the leader's or hold a database, and serves one follower at a time. Tables are opened
// through hard links in it, so those that the leader has deleted stay readable whatever
// max_open_files is; they are removed when nothing needs them, and when the follower is closed or
// opened again. Where tables cannot be linked, as on another file system, they are opened in the
// leader's directories, and the LOG says so. Logs are followed, too; RocksDB's follower shows only
// what is in tables. Promote returns NotSupported.
//
// DB::GetSecondaryLag computes the lag from the files. It reads the logs that were not applied yet,
// so its cost grows with the lag.
//
// DB::Promote makes a secondary the primary: it takes the database's lock, catches up to the end,
// and then is like a database opened for writing that has all its data in memory; nothing is
// replayed. Prepared transactions can be decided then (TransactionDB::WrapDB), if the secondary was
// opened with DBOptions::allow_2pc. It stays a secondary after IOError (the primary lives),
// InvalidArgument (there are prepared transactions and it was opened without allow_2pc, or column
// families that it has not opened), NotSupported (the storage is on the network), and Corruption
// (durable data is lost).

#include <cstdint>

namespace varve {

// Distance of a secondary from its primary, as far as files show. Not in RocksDB.
struct SecondaryLag {
  // Bytes of log records that are not applied yet.
  uint64_t log_bytes = 0;
  // Number of sequence numbers in those records.
  uint64_t sequences = 0;
  // Microseconds since the secondary last had all data; 0 if it has all.
  uint64_t age_micros = 0;
};

// Options of DB::Promote. Not in RocksDB.
struct PromoteOptions {
  // If false, a database on network storage is refused with NotSupported: a database's lock
  // excludes only processes of the same machine, so its primary may be running on another one.
  bool allow_network_storage = false;
};

}  // namespace varve
