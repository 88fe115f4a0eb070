// SPDX-License-Identifier: Apache-2.0
#pragma once

// OptionsKeeper writes the OPTIONS file when options change.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/dynamic_options.h"
#include "db/engine/file_deletions.h"
#include "db/engine/job_interfaces.h"
#include "util/options/options_file.h"

namespace varve {

// A small file is written before the call that changes options returns. With many families writing
// takes long: then a job writes the file soon, with all changes made until it begins. The next call
// that changes options returns an error of that job, and Close writes changes that are still
// missing.
//
// Thread safety: as annotated. One thread writes the file at a time, without the mutex.
class OptionsKeeper {
 public:
  struct Parts {
    const DbContext& context;
    const DynamicOptions& dynamic;
    DbState& state;
    const FileDeletions& deletions;
    JobTimer& timer;
  };
  explicit OptionsKeeper(const Parts& parts) : with_(parts) {}
  OptionsKeeper(const OptionsKeeper&) = delete;
  OptionsKeeper& operator=(const OptionsKeeper&) = delete;

  // Must be called after a change of options, or of the set of families. Writes the file if it is
  // small, or if the last write failed, and returns the status of the write; otherwise a job writes
  // it soon. Returns OK in any case unless fail_if_options_file_error is set.
  Status Changed() VARVE_EXCLUDES(kDbMutex);
  // Waits until the file has all changes whose calls have returned, and returns the status of the
  // last write.
  Status Settle() VARVE_EXCLUDES(kDbMutex);
  // Cancels the job if it has not begun, or waits for its end, and then writes all changes into the
  // file. Called by Close; no change may follow. Returns the status of the write.
  Status Stop() VARVE_EXCLUDES(kDbMutex);

  // Schedules the job if it is due at `now`, in monotonic microseconds. Requires that the caller,
  // the timer, holds the DB mutex. Returns the microseconds until the next call, or UINT64_MAX if
  // none is needed before the timer is woken.
  uint64_t HandOut(uint64_t now);

  // Returns the number of the current file, or 0 if none was written.
  uint64_t number() const VARVE_REQUIRES(kDbMutex) { return files_.empty() ? 0 : files_.back(); }

 private:
  // The text of a family as last written, which is valid while the family has the same options
  // object.
  struct Known {
    std::shared_ptr<const ColumnFamilyOptions> options;
    std::shared_ptr<const FamilyOptionsText> text;
  };
  struct Content;
  struct ByText {
    bool operator()(const std::shared_ptr<const FamilyOptionsText>& a,
                    const std::shared_ptr<const FamilyOptionsText>& b) const;
  };

  // Entry point of the job on a thread of the Env; calls WriteInJob.
  static void RunJob(void* self);
  // Writes the file, and ends the job.
  void WriteInJob() VARVE_EXCLUDES(kDbMutex);
  // Counts a change. Writes the file now if it is small, and returns the status of the last write.
  Status NoteChange() VARVE_REQUIRES(kDbMutex);
  // Waits until the file has the first `change` changes; writes it unless another thread does.
  // Releases the mutex meanwhile.
  Status WriteUpTo(uint64_t change) VARVE_REQUIRES(kDbMutex);
  // Writes the file with all changes so far. Requires that no other thread writes it. Releases the
  // mutex meanwhile.
  Status WriteOne() VARVE_REQUIRES(kDbMutex);
  // Deletes all OPTIONS files except the two newest ones, unless deletions are disabled.
  void DeleteOlder() VARVE_REQUIRES(kDbMutex);
  // Returns the options of the database and of all families.
  Content Collect() VARVE_REQUIRES(kDbMutex);
  // Returns the text of the file. Must be called without the mutex, as it takes long with many
  // families.
  std::string Format(const Content& content, size_t last_bytes);
  // Returns the text of these options, which families with the same text share.
  std::shared_ptr<const FamilyOptionsText> TextOf(
      const std::shared_ptr<const ColumnFamilyOptions>& options);

  const Parts with_;

  // Existing files, ascending.
  std::vector<uint64_t> files_ VARVE_GUARDED_BY(kDbMutex);
  bool listed_ VARVE_GUARDED_BY(kDbMutex) = false;  // files_ has those of earlier openings
  uint64_t wanted_ VARVE_GUARDED_BY(kDbMutex) = 0;  // number of changes so far
  uint64_t told_ VARVE_GUARDED_BY(kDbMutex) = 0;    // number of changes in the file
  // Number of changes that are in the file or that a job will write.
  uint64_t promised_ VARVE_GUARDED_BY(kDbMutex) = 0;
  bool writing_ VARVE_GUARDED_BY(kDbMutex) = false;  // a thread writes the file
  // True while a job is scheduled or runs.
  bool handed_out_ VARVE_GUARDED_BY(kDbMutex) = false;
  Status failure_ VARVE_GUARDED_BY(kDbMutex);         // result of the last write
  size_t last_bytes_ VARVE_GUARDED_BY(kDbMutex) = 0;  // size of the file
  // Monotonic time of the oldest change that is not in the file.
  uint64_t changed_micros_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t pause_end_ VARVE_GUARDED_BY(kDbMutex) = 0;  // monotonic time before which no job begins

  // --- Used only by the thread that writes.
  std::map<uint32_t, Known> known_;
  // Families with the same options share a text.
  std::set<std::shared_ptr<const FamilyOptionsText>, ByText> texts_;
};

}  // namespace varve
