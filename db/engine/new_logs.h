// SPDX-License-Identifier: Apache-2.0
#pragma once

// Begins new logs: decides the kind of log, creates its file, and writes its first records. A log
// with a record of the timestamp sizes of families is called stamped: RocksDB before 8.4 takes that
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
  // Uses the logs, families and file numbers of the state.
  NewLogs(const DbContext& context, const DynamicOptions& options, DbState* state)
      : context_(context), options_(options), state_(*state) {}
  NewLogs(const NewLogs&) = delete;
  NewLogs& operator=(const NewLogs&) = delete;

  // Makes a fresh log the current one. With `force` an empty one is replaced, too, and all families
  // are about to leave earlier logs in one step: the new log begins with the undecided
  // transactions, durably, so that earlier logs are not needed. Requires that the commit path is
  // held exclusively; releases the mutex while files are made.
  Status Start(bool force) VARVE_REQUIRES(kDbMutex);

  // True if a log that is still needed may be stamped: by this object, or according to NoteStamped.
  bool stamped() const VARVE_REQUIRES(kDbMutex) { return stamped_; }
  bool current_stamped() const VARVE_REQUIRES(kDbMutex) { return current_stamped_; }
  void NoteStamped() VARVE_REQUIRES(kDbMutex) { stamped_ = current_stamped_ = true; }
  // Ends stamping: nothing will be written to the logs.
  void StopStamping() VARVE_REQUIRES(kDbMutex) { stamps_ = false; }

  // Keeps an obsolete log whose file a later log may reuse. Returns false if recycle_log_file_num
  // logs are kept already.
  bool Keep(uint64_t number) VARVE_REQUIRES(kDbMutex);
  // Returns the oldest kept log, or 0.
  uint64_t TakeKept() VARVE_REQUIRES(kDbMutex);

 private:
  struct Wanted {
    uint64_t number = 0;
    uint64_t recycled = 0;                // an obsolete log whose file is reused; 0: none
    std::string first_record;             // the first record, unless empty
    std::vector<std::string> sections;    // records that follow, and are made durable
    wal::TimestampSizes timestamp_sizes;  // sizes of all families with timestamps
    FileOptions file;
    WritableFileWriter::Options writer;
  };

  Wanted Describe(bool with_sections) VARVE_REQUIRES(kDbMutex);
  // Creates a mapped log if options and file system allow it, else a buffered one. These do I/O.
  IOStatus Make(const Wanted& wanted, std::unique_ptr<wal::CommitLog>* log);
  IOStatus MakeMapped(const Wanted& wanted, const std::string& path,
                      std::unique_ptr<wal::CommitLog>* log);
  IOStatus MakeBuffered(const Wanted& wanted, const std::string& path,
                        std::unique_ptr<wal::CommitLog>* log);
  IOStatus AddSections(const std::vector<std::string>& sections, wal::CommitLog* log);
  IOStatus MakeWritable(const Wanted& wanted, const std::string& path,
                        std::unique_ptr<FSWritableFile>* file);
  // Removes the files of a log that could not be made: its own, and the one it was to reuse, which
  // is not kept any more.
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
