// SPDX-License-Identifier: Apache-2.0
#pragma once

// Begins new logs: which kind of log, how its file is made, and what its first records are. A log
// that says how long the timestamps of families are is a stamped one: RocksDB before 8.4 takes that
// record for damage, and reads no further.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/dynamic_options.h"
#include "db/wal/commit_log.h"
#include "db/wal/timestamp_sizes.h"
#include "util/env/writable_file_writer.h"

namespace varve {

class NewLogs {
 public:
  // Of the state it uses the logs, families and file numbers.
  NewLogs(const DbContext& context, const DynamicOptions& options, DbState* state)
      : context_(context), options_(options), state_(*state) {}
  NewLogs(const NewLogs&) = delete;
  NewLogs& operator=(const NewLogs&) = delete;

  // A fresh log as the current one. With `force` an empty one is replaced, too, and all families
  // are about to leave the logs before it in one step: it begins with the sections that are
  // undecided, durably, so that those logs are needed for nothing. The commit path is held
  // exclusively; the mutex is released while files are made.
  Status Start(bool force) VARVE_REQUIRES(kDbMutex);

  // A log that is still needed may be stamped: by this object, or by others that have told.
  bool stamped() const VARVE_REQUIRES(kDbMutex) { return stamped_; }
  bool current_stamped() const VARVE_REQUIRES(kDbMutex) { return current_stamped_; }
  void NoteStamped() VARVE_REQUIRES(kDbMutex) { stamped_ = current_stamped_ = true; }
  // Logs are not stamped from now on: nothing will be written to them.
  void StopStamping() VARVE_REQUIRES(kDbMutex) { stamps_ = false; }

  // Keeps an obsolete log whose file a later log may take over. False: there are as many already
  // as recycle_log_file_num says.
  bool Keep(uint64_t number) VARVE_REQUIRES(kDbMutex);
  // The oldest of them, or 0.
  uint64_t TakeKept() VARVE_REQUIRES(kDbMutex);

 private:
  struct Wanted {
    uint64_t number = 0;
    uint64_t recycled = 0;                // an obsolete log whose file is to be used; 0: none
    std::string first_record;             // the first record, unless empty
    std::vector<std::string> sections;    // records that follow, and are made durable
    wal::TimestampSizes timestamp_sizes;  // of all families that have timestamps
    FileOptions file;
    WritableFileWriter::Options writer;
  };

  Wanted Describe(bool with_sections) VARVE_REQUIRES(kDbMutex);
  // Mapped where options and file system allow it, else over a buffer. These do I/O.
  IOStatus Make(const Wanted& wanted, std::unique_ptr<wal::CommitLog>* log);
  IOStatus MakeMapped(const Wanted& wanted, const std::string& path,
                      std::unique_ptr<wal::CommitLog>* log);
  IOStatus MakeBuffered(const Wanted& wanted, const std::string& path,
                        std::unique_ptr<wal::CommitLog>* log);
  IOStatus AddSections(const std::vector<std::string>& sections, wal::CommitLog* log);
  IOStatus MakeWritable(const Wanted& wanted, const std::string& path,
                        std::unique_ptr<FSWritableFile>* file);
  // Of one that could not be made, what there is: its file, and that which it was to take over,
  // which nobody remembers.
  void Remove(const Wanted& wanted);

  const DbContext& context_;
  const DynamicOptions& options_;
  DbState& state_;
  std::deque<uint64_t> kept_ VARVE_GUARDED_BY(kDbMutex);  // oldest first
  bool stamps_ VARVE_GUARDED_BY(kDbMutex) = true;
  bool stamped_ VARVE_GUARDED_BY(kDbMutex) = false;
  bool current_stamped_ VARVE_GUARDED_BY(kDbMutex) = false;
};

}  // namespace varve
