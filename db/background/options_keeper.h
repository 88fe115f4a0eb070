// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the OPTIONS file what the options in force are.

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

// A small file is written before the change that it tells of returns. With many families it takes
// long: then it follows soon, by a job, which tells of all changes that have come until it begins;
// the next call that changes options is told if it failed, and Close writes what is still to be
// written.
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

  // Options, or the set of families, have changed. Returns the status of writing the file, which is
  // done now if a job has failed with it; OK where fail_if_options_file_error is not set.
  Status Changed() VARVE_EXCLUDES(kDbMutex);
  // Returns when the file has all changes whose calls have returned.
  Status Settle() VARVE_EXCLUDES(kDbMutex);
  // The same, with scheduled jobs cancelled. No change follows.
  Status Stop() VARVE_EXCLUDES(kDbMutex);

  // For the timer. Hands the job out if it is due; returns in how many microseconds to look again,
  // if something is to be written. Requires mu.
  uint64_t HandOut(uint64_t now);

  // Of the file in force; 0: none was written. Requires mu.
  uint64_t number() const VARVE_REQUIRES(kDbMutex) { return files_.empty() ? 0 : files_.back(); }

 private:
  // As it was when it was last written, for as long as the family has the same options.
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

  // Those that are there, ascending.
  std::vector<uint64_t> files_ VARVE_GUARDED_BY(kDbMutex);
  bool listed_ VARVE_GUARDED_BY(kDbMutex) = false;  // files_ has those of earlier openings, too
  uint64_t wanted_ VARVE_GUARDED_BY(kDbMutex) = 0;  // changes so far
  uint64_t told_ VARVE_GUARDED_BY(kDbMutex) = 0;    // of them, those that the file tells of
  // And those that it is going to tell of, with nobody waiting.
  uint64_t promised_ VARVE_GUARDED_BY(kDbMutex) = 0;
  bool writing_ VARVE_GUARDED_BY(kDbMutex) = false;  // a thread is at it
  bool handed_out_ VARVE_GUARDED_BY(kDbMutex) = false;
  Status failure_ VARVE_GUARDED_BY(kDbMutex);         // of the last writing
  size_t last_bytes_ VARVE_GUARDED_BY(kDbMutex) = 0;  // of the file
  // When the oldest change came that is not told.
  uint64_t changed_micros_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t pause_end_ VARVE_GUARDED_BY(kDbMutex) = 0;  // no job begins before

  // --- Of the thread that writes
  std::map<uint32_t, Known> known_;
  // Families with the same options share a text.
  std::set<std::shared_ptr<const FamilyOptionsText>, ByText> texts_;
};

}  // namespace varve
