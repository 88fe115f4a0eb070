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

  // Must be called after a change of options, or of the set of families. Returns the status of
  // writing the file, which is done here if a job has failed with it. Returns OK if
  // fail_if_options_file_error is not set.
  Status Changed() VARVE_EXCLUDES(kDbMutex);
  // Returns when the file has all changes whose calls have returned.
  Status Settle() VARVE_EXCLUDES(kDbMutex);
  // Does the same, after cancelling scheduled jobs. No change may follow.
  Status Stop() VARVE_EXCLUDES(kDbMutex);

  // Called by the timer. Starts the job if it is due; returns the microseconds until the next
  // check, if there is something to write. Requires mu.
  uint64_t HandOut(uint64_t now);

  // Returns the number of the current file; 0: none was written. Requires mu.
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

  static void RunJob(void* self);
  void WriteInJob() VARVE_EXCLUDES(kDbMutex);
  Status NoteChange() VARVE_REQUIRES(kDbMutex);
  // These release the mutex.
  Status WriteUpTo(uint64_t change) VARVE_REQUIRES(kDbMutex);
  Status WriteOne() VARVE_REQUIRES(kDbMutex);
  void DeleteOlder() VARVE_REQUIRES(kDbMutex);
  Content Collect() VARVE_REQUIRES(kDbMutex);
  std::string Format(const Content& content, size_t last_bytes);
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
