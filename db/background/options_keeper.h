// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the OPTIONS file in step with the options in force.

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
// takes long: then a job writes the file soon, with all changes made until it begins; the next call
// that changes options gets its error, and Close writes what is still missing.
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
  // small, or if the last write failed, and returns that status; otherwise a job writes it soon.
  // Always returns OK if fail_if_options_file_error is not set.
  Status Changed() VARVE_EXCLUDES(kDbMutex);
  // Returns when the file has all changes whose calls have returned.
  Status Settle() VARVE_EXCLUDES(kDbMutex);
  // Cancels the job if it has not begun, or waits for its end, and then writes all changes into the
  // file. Called by Close; no change may follow. Returns the status of the write.
  Status Stop() VARVE_EXCLUDES(kDbMutex);

  // Called by the timer, under the DB mutex. Starts the job if it is due. Returns the microseconds
  // until the next check; UINT64_MAX: a check is not needed before Wake.
  uint64_t HandOut(uint64_t now);

  // Returns the number of the current file; 0: none was written.
  uint64_t number() const VARVE_REQUIRES(kDbMutex) { return files_.empty() ? 0 : files_.back(); }

 private:
  // A family's text as last written, valid while the family has the same options.
  struct Known {
    std::shared_ptr<const ColumnFamilyOptions> options;
    std::shared_ptr<const FamilyOptionsText> text;
  };
  struct Content;
  struct ByText {
    bool operator()(const std::shared_ptr<const FamilyOptionsText>& a,
                    const std::shared_ptr<const FamilyOptionsText>& b) const;
  };

  // Called on a thread of the environment; calls WriteInJob.
  static void RunJob(void* self);
  // Writes the file, and ends the job.
  void WriteInJob() VARVE_EXCLUDES(kDbMutex);
  // Counts a change, and returns the result of the last write.
  Status NoteChange() VARVE_REQUIRES(kDbMutex);
  // Returns when the file has this change, by its count; writes it if nobody else does. Releases
  // the mutex meanwhile.
  Status WriteUpTo(uint64_t change) VARVE_REQUIRES(kDbMutex);
  // Writes the file once, with all changes so far. Requires that no thread writes. Releases the
  // mutex meanwhile.
  Status WriteOne() VARVE_REQUIRES(kDbMutex);
  // Deletes all files but the newest ones, unless deletions are disabled.
  void DeleteOlder() VARVE_REQUIRES(kDbMutex);
  // Gathers the options of the database and of all families in one hold of the mutex.
  Content Collect() VARVE_REQUIRES(kDbMutex);
  // Returns the text of the file. Takes time for each family, so the mutex is not held.
  std::string Format(const Content& content, size_t last_bytes);
  // Returns the text of these options, which families with the same text share.
  std::shared_ptr<const FamilyOptionsText> TextOf(
      const std::shared_ptr<const ColumnFamilyOptions>& options);

  const Parts with_;

  // Existing files, ascending.
  std::vector<uint64_t> files_ VARVE_GUARDED_BY(kDbMutex);
  bool listed_ VARVE_GUARDED_BY(kDbMutex) = false;  // files_ includes those of earlier openings
  uint64_t wanted_ VARVE_GUARDED_BY(kDbMutex) = 0;  // number of changes so far
  uint64_t told_ VARVE_GUARDED_BY(kDbMutex) = 0;    // number of changes that the file contains
  // Number of changes that it will contain, without a call waiting for them.
  uint64_t promised_ VARVE_GUARDED_BY(kDbMutex) = 0;
  bool writing_ VARVE_GUARDED_BY(kDbMutex) = false;  // a thread writes the file
  // True while the environment has a job of this object.
  bool handed_out_ VARVE_GUARDED_BY(kDbMutex) = false;
  Status failure_ VARVE_GUARDED_BY(kDbMutex);         // result of the last write
  size_t last_bytes_ VARVE_GUARDED_BY(kDbMutex) = 0;  // size of the file
  // Time of the oldest change that is not in the file.
  uint64_t changed_micros_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t pause_end_ VARVE_GUARDED_BY(kDbMutex) = 0;  // no job begins before

  // --- For the thread that writes.
  std::map<uint32_t, Known> known_;
  // Families with the same options share a text.
  std::set<std::shared_ptr<const FamilyOptionsText>, ByText> texts_;
};

}  // namespace varve
