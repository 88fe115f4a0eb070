// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads all live tables and blob files repeatedly and slowly, and reports those that are damaged.
//
//      pass      ListTargets    all files of all versions now, by weak references
//                VerifyTarget   reads every block of one table, or every record of one blob file,
//                               and compares checksums
//                  Pace         sleeps so that the rate of the options is kept
//      pause     until scrub_period_sec after the beginning of the pass
//
// Damage of a device is found before the block is needed, while a replica or a backup may still
// have it. A pass may take days. So it holds no version: files that are compacted away meanwhile
// are deleted as usual, and passed over.
//
// A file that became obsolete while it was read is released here, so the scrubber itself has it
// deleted afterwards.

#include <string>
#include <thread>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/lifecycle.h"

namespace varve {

// Counts the work and the findings of verification passes since the opening.
struct ScrubProgress {
  uint64_t passes = 0;  // finished passes
  // Verified since opening, and the bytes that were read for it.
  uint64_t tables = 0;
  uint64_t blob_files = 0;
  uint64_t bytes = 0;
  uint64_t corruptions = 0;
  uint64_t errors = 0;  // files that could not be read for another reason
  // Progress of the current pass; both 0 between passes.
  uint64_t pass_bytes = 0;
  uint64_t pass_bytes_wanted = 0;
  // The newest damage, as text; empty: none was found.
  std::string last_corruption;
  // Returns the figures as lines for people.
  std::string ToString() const;
};

// Thread safety: Start and Stop are called by the threads that open and close; the rest from any
// thread.
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

  // Does nothing if the options do not ask for it.
  void Start();
  // Ends the current pass within a block. May be called repeatedly.
  void Stop() VARVE_EXCLUDES(kDbMutex);

  bool started() const { return started_.load(std::memory_order_relaxed); }
  // Returns a copy.
  ScrubProgress progress() const;

 private:
  // A table or a blob file to be verified, with its family.
  struct Target;

  // Makes passes until Stop, on thread_.
  void Run();
  // Returns the tables and blob files of all families as of now.
  std::vector<Target> ListTargets();
  // Verifies these, at the rate of the options.
  void RunPass();
  // Verifies one file. Returns true if it may be obsolete, so that it is to be deleted now.
  bool VerifyTarget(const Target& target);
  // Read all blocks of a table, or all records of a blob file, and return the first error.
  Status ReadTable(ColumnFamily* family, FileMetaData* file, int level);
  Status ReadBlobFile(ColumnFamily* family, const BlobFile& file);
  // Counts the outcome of a reading, and tells of damage.
  void Note(const ColumnFamily& family, const FileMetaData& file, const Status& s);
  // Waits until this many bytes may have been read. Returns ShutdownInProgress if it is to stop.
  Status Pace(uint64_t bytes);
  // Returns false if it is to stop.
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
  uint64_t due_micros_ = 0;  // used by the thread: earliest time for the bytes already read
};

}  // namespace varve
