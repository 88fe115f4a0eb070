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

// Makes the logs that writes go to. One object per database, used by memtable switches, recovery
// from errors, and the opening. Thread safety: as annotated; Start is called by one thread at a
// time, since it requires the commit path exclusively.
class NewLogs {
 public:
  // Uses the logs, families and file numbers of the state. What it is given must outlive it.
  NewLogs(const DbContext& context, const DynamicOptions& options, DbState* state)
      : context_(context), options_(options), state_(*state) {}
  NewLogs(const NewLogs&) = delete;
  NewLogs& operator=(const NewLogs&) = delete;

  // Makes a fresh log the current one, unless that is empty already. With `force`, replaces an
  // empty log, too, and writes the undecided transactions to the new one, durably, so that no
  // earlier log is needed for them. `force` requires that the caller then moves all families to the
  // new log in one edit (VersionEdit::log_number). Requires that the caller keeps writers out
  // (CommitPath::EnterExclusive); releases the mutex while files are made. After a failure the old
  // log is still the current one, and the new file is gone.
  Status Start(bool force) VARVE_REQUIRES(kDbMutex);

  // True once this object has begun to make a stamped log, or NoteStamped was called; it stays so.
  bool stamped() const VARVE_REQUIRES(kDbMutex) { return stamped_; }
  // True if the current log may be stamped.
  bool current_stamped() const VARVE_REQUIRES(kDbMutex) { return current_stamped_; }
  // Must be called before another object adds a record of timestamp sizes to the current log, and
  // by an opening or a promotion that keeps a log which may have one.
  void NoteStamped() VARVE_REQUIRES(kDbMutex) { stamped_ = current_stamped_ = true; }
  // Makes the logs that Start makes from now on unstamped. Requires that no write comes any more,
  // as in Close: a replay takes the keys of an unstamped log for keys without timestamps if the
  // family does not persist them (TimestampAdapter).
  void StopStamping() VARVE_REQUIRES(kDbMutex) { stamps_ = false; }

  // Keeps an obsolete log whose file a later log may reuse. Returns false if recycle_log_file_num
  // logs are kept already.
  bool Keep(uint64_t number) VARVE_REQUIRES(kDbMutex);
  // Returns the oldest kept log, or 0.
  uint64_t TakeKept() VARVE_REQUIRES(kDbMutex);

 private:
  // The parts of a log that is about to be made, collected under the mutex and used without it.
  struct Wanted {
    uint64_t number = 0;
    uint64_t recycled = 0;                // an obsolete log whose file is reused; 0: none
    std::string first_record;             // the first record, unless empty
    std::vector<std::string> prepared;    // records of prepared transactions, made durable
    wal::TimestampSizes timestamp_sizes;  // sizes of all families with timestamps
    FileOptions file;
    WritableFileWriter::Options writer;
  };

  // Collects what a new log needs. Takes a file number, and a kept log if one is to be reused.
  // `with_prepared`: the log begins with the undecided prepared transactions.
  Wanted Describe(bool with_prepared) VARVE_REQUIRES(kDbMutex);
  // Creates the log and makes it the current one, with the mutex released. After an error the old
  // log is still the current one, and the new file is gone.
  IOStatus MakeCurrent(const Wanted& wanted) VARVE_REQUIRES(kDbMutex);
  // Creates a mapped log if options and file system allow it, else a buffered one, and writes its
  // first records. All of these do I/O, without the mutex.
  IOStatus Make(const Wanted& wanted, std::unique_ptr<wal::CommitLog>* log);
  IOStatus MakeMapped(const Wanted& wanted, const std::string& path,
                      std::unique_ptr<wal::CommitLog>* log);
  IOStatus MakeBuffered(const Wanted& wanted, const std::string& path,
                        std::unique_ptr<wal::CommitLog>* log);
  // Adds the records of undecided prepared transactions, and makes them durable.
  IOStatus AddPrepared(const std::vector<std::string>& records, wal::CommitLog* log);
  // Creates the file of a buffered log, or takes that of an old log which is to be reused.
  IOStatus MakeWritable(const Wanted& wanted, const std::string& path,
                        std::unique_ptr<FSWritableFile>* file);
  // Removes the files of a log that could not be made: its own, and the one it was to reuse, which
  // is not kept any more.
  void Remove(const Wanted& wanted);

  const DbContext& context_;
  const DynamicOptions& options_;
  DbState& state_;
  std::deque<uint64_t> kept_ VARVE_GUARDED_BY(kDbMutex);  // oldest first
  // True while new logs are stamped.
  bool stamps_ VARVE_GUARDED_BY(kDbMutex) = true;
  // These are returned by stamped() and current_stamped().
  bool stamped_ VARVE_GUARDED_BY(kDbMutex) = false;
  bool current_stamped_ VARVE_GUARDED_BY(kDbMutex) = false;
};

}  // namespace varve
