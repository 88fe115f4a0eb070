// SPDX-License-Identifier: Apache-2.0
#pragma once

// The log-structured merge tree of an open database: its families, versions and logs, and the DB
// mutex over them.

#include <atomic>
#include <memory>

#include "db/column_family/column_family.h"
#include "db/db_mutex.h"
#include "db/engine/change_positions.h"
#include "db/engine/ingest_windows.h"
#include "db/engine/prepared_transactions.h"
#include "db/engine/work_signal.h"
#include "db/read/live_snapshots.h"
#include "db/version/blob_holes.h"
#include "db/version/version_set.h"
#include "db/wal/log_set.h"
#include "db/write/commit_path.h"
#include "util/sync/wake_signal.h"

namespace varve {

// Locking order: commit path (held exclusively, or by a write that is in it) -> mu -> leaf mutexes.
// No I/O is done, and no listener called, under mu; comparators and partitioners of users may run
// under it (db/db_mutex.h). Each member's class says what mu guards of it. The
// opening sets each pointer once.
struct DbState {
  std::unique_ptr<CommitPath> commit;
  // Stores how much of the logs and of the MANIFEST is durable, for the next opening. Must outlive
  // the logs and the version set.
  std::unique_ptr<wal::SyncedMarks> marks;

  DbMutex mu;
  WorkSignal work{&mu};
  std::unique_ptr<VersionSet> versions;
  ColumnFamilySet families;
  LiveSnapshots snapshots;
  BlobHoles blob_holes;  // garbage in blob files that may be given back to the file system
  PreparedTransactions prepared;
  IngestWindows ingest_windows{&work};
  // For change streams, which name the families of writes that no log has. They can do so from this
  // sequence number on; smaller ones are of earlier openings or came with imported tables. Guarded
  // by mu.
  SequenceNumber families_known_from = 0;
  std::unique_ptr<LogSet> logs;
  ChangePositions positions;  // holds logs, so it is destroyed before them
  // Notified when a reader of the logs may find more, or an error: at commits, syncs, the expiry of
  // a position, and Close.
  WakeSignal updates;
  std::atomic<uint64_t> transaction_bytes{0};  // updates and locks of open transactions
  std::atomic<int> next_job_id{1};             // only unique numbers matter

  int NextJobId() { return next_job_id.fetch_add(1, std::memory_order_relaxed); }
  // Returns the family of a handle, and leaves *status. Returns null, with *status InvalidArgument,
  // if the handle is null or another database's. A dropped family exists as long as it has a
  // handle.
  ColumnFamily* Resolve(ColumnFamilyHandle* handle, Status* status) const;
};

}  // namespace varve
