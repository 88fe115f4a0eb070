// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scrubber reads all live tables and blob files repeatedly, at a limited rate, and reports damaged
// ones.
//
//      pass      ListTargets    all files of all versions now, by weak references
//                VerifyTarget   reads every block of one table, or every record of one blob file,
//                               and compares checksums
//                  Pace         sleeps so that the rate of the options is kept
//      pause     until scrub_period_sec after the beginning of the pass
//
// So damage is found before the block is needed, while a replica or a backup may still have it. A
// pass may take days, so it pins no version: files that are compacted meanwhile are deleted as
// usual, and skipped. But while a blob file is read into which holes may be punched, the version is
// held that counts its garbage, so that no more than that is missing.
//
// If a file becomes obsolete while it is read, the scrubber may release the last reference, and
// then requests a purge.

#include <string>
#include <thread>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/lifecycle.h"

namespace varve {

// Progress and findings of verification passes since the opening.
struct ScrubProgress {
  uint64_t passes = 0;  // finished passes
  // Files verified since the opening, and the bytes that were read for that.
  uint64_t tables = 0;
  uint64_t blob_files = 0;
  uint64_t bytes = 0;
  uint64_t corruptions = 0;
  uint64_t errors = 0;  // files that could not be read for another reason
  // Progress of the current pass; both 0 between passes.
  uint64_t pass_bytes = 0;
  uint64_t pass_bytes_wanted = 0;
  // Description of the last damage; empty if none was found.
  std::string last_corruption;
  // Returns the figures as lines of text.
  std::string ToString() const;
};

// Thread safety: Start and Stop are called by the threads that open and close; the rest is
// thread-safe.
class Scrubber {
 public:
  // Everything that passes use; must outlive the scrubber.
  struct Parts {
    const DbContext& context;
    DbState& state;
    const Lifecycle& lifecycle;
    FilePurger& purger;
  };
  explicit Scrubber(const Parts& parts) : with_(parts) {}
  ~Scrubber() { Stop(); }
  Scrubber(const Scrubber&) = delete;
  Scrubber& operator=(const Scrubber&) = delete;

  // Starts the thread. Does nothing if scrub_bytes_per_second is 0.
  void Start();
  // Ends the thread, after the block that it reads. May be called repeatedly.
  void Stop() VARVE_EXCLUDES(kDbMutex);

  bool started() const { return started_.load(std::memory_order_relaxed); }
  // Returns a copy of the current figures.
  ScrubProgress progress() const;

 private:
  // A table or a blob file to be verified, with its family.
  struct Target;

  // Makes passes until Stop, on thread_.
  void Run();
  // Returns the tables and blob files of all families as of now.
  std::vector<Target> ListTargets();
  // Verifies the current files, at the rate in the options.
  void RunPass();
  // Verifies one file, unless it is gone. Returns true if it may have become obsolete meanwhile, so
  // that a purge is needed.
  bool VerifyTarget(const Target& target);
  // Sets *state to the blob file's in the present version, and *version to that if later ones may
  // punch holes into the file. Leaves both if the version does not have the file any more.
  void FindBlobFile(const ColumnFamily& family, uint64_t number, BlobFileState* state,
                    VersionRef* version) VARVE_EXCLUDES(kDbMutex);
  // Read all blocks of a table, or all records of a blob file, and return the first error.
  Status ReadTable(ColumnFamily* family, FileMetaData* file, int level);
  Status ReadBlobFile(ColumnFamily* family, const BlobFileState& file);
  // Counts the outcome of reading a file, and reports damage.
  void Note(const ColumnFamily& family, const FileMetaData& file, const Status& s);
  // Waits until the rate allows the `bytes` that were read. Returns ShutdownInProgress if the
  // scrubber must stop.
  Status Pace(uint64_t bytes);
  // Sleeps until a monotonic time. Returns false, possibly early, if the scrubber must stop.
  bool SleepUntil(uint64_t micros);

  const Parts with_;
  // Makes the passes; joined by Stop.
  std::thread thread_;
  std::atomic<bool> started_{false};  // publishes no other data

  mutable Mutex mu_{lock_ranks::kScrubber};
  CondVar stop_{&mu_};
  // True once Stop was called.
  bool stopping_ VARVE_GUARDED_BY(mu_) = false;
  ScrubProgress progress_ VARVE_GUARDED_BY(mu_);
  uint64_t due_micros_ = 0;  // used by the thread: time at which the rate allows the next read
};

}  // namespace varve
