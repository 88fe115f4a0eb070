// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what the engine knows of one table file: the facts of the MANIFEST, and the open reader.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/types.h"

#include "db/version/table_counts.h"
#include "db/version/table_facts.h"
#include "db/version/table_paths.h"
#include "table/table_reader.h"
#include "util/base/assert.h"
#include "util/env/random_access_file_reader.h"
#include "util/mem/cache_charge.h"

namespace varve {

// Stores what covered_files has found out so far about range tombstones and a file.
struct CoverFound {
  // True if the file's own tombstones were compared with all files beneath it that existed then.
  bool applied = false;
  // True if the file was compared with all tombstones that were applied before it was added.
  bool judged = false;
  // Readers at this sequence number and later see nothing of the file. kMaxSequenceNumber: unknown.
  SequenceNumber covered_from = kMaxSequenceNumber;
};

// Notes of compaction planning about a file.
struct PlanningNotes {
  bool being_compacted = false;
  bool marked_for_compaction = false;
  int last_job = 0;  // last compaction that had it as an input, for listeners; 0: none
  CoverFound cover;
};

// Shared by every Version that has the file. When the last reference is released and a logged
// edit has deleted the file, it is passed to the obsolete-file queue (ObsoleteFileQueue).
//
// Thread safety: facts are constant once the file is in a Version. `notes` are guarded by the DB
// mutex. `reader` and the counts are published once.
struct FileMetaData : TableFacts {
  FileMetaData() = default;
  ~FileMetaData() { delete reader.load(std::memory_order_acquire); }
  FileMetaData(const FileMetaData&) = delete;
  FileMetaData& operator=(const FileMetaData&) = delete;

  // Closes the table; requires that it has no readers any more. Drops the blocks of an obsolete
  // file from the block cache.
  void CloseTable() {
    const std::unique_ptr<TableReader> table(reader.exchange(nullptr, std::memory_order_acq_rel));
    if (table != nullptr && obsolete.load(std::memory_order_relaxed)) table->ForgetBlocks();
  }

  std::string FileName() const {
    VARVE_ASSERT(paths != nullptr);
    return paths->FileName(*this);
  }
  // Returns the name that LevelDB would give the file.
  std::string LevelDbFileName() const { return paths->LevelDbFileName(*this); }
  // Like TablePaths::UseFile.
  template <typename Use>
  auto UseFile(const Use& use) const {
    return paths->UseFile(*this, use);
  }

  // Returns the counts of the MANIFEST, if it has any, else those of the table's properties once it
  // has been opened. All 0 until then.
  const TableCounts& counts() const {
    static constexpr TableCounts kNone;
    return counts_known_.load(std::memory_order_acquire) ? counts_ : kNone;
  }
  // Sets the counts unless they are known. Concurrent callers must exclude each other.
  void SetCounts(const TableCounts& counts) {
    if (!counts.known() || counts_known_.load(std::memory_order_relaxed)) return;
    counts_ = counts;
    counts_known_.store(true, std::memory_order_release);
  }

  PlanningNotes notes;

  // Paths of the family, which this file may outlive. Set before the file is put into a version;
  // constant then.
  TablePathsRef paths;

  // Charge of this metadata to the block cache, if the options ask for it.
  ChargedBytes charged;

  // Set by the version set once a logged edit has removed the file from the current version.
  std::atomic<bool> obsolete{false};
  FileMetaData* next_obsolete = nullptr;  // next file in the obsolete-file queue

  // The file, opened by TableCache::OpenAhead, for the reader created at the first use. Guarded by
  // the file's stripe of the table cache. For an obsolete blob file it is the file that its reader
  // had open, which is closed by the thread that deletes the file.
  std::unique_ptr<RandomAccessFileReader> opened_ahead;

  // The open reader if open files are unlimited: written once (release) by the table cache, read
  // (acquire) by every look-up; null until first use. Owned.
  std::atomic<TableReader*> reader{nullptr};

 private:
  TableCounts counts_;
  std::atomic<bool> counts_known_{false};
};

// Returns the bytes that one file's metadata takes, without its reader.
size_t MemoryUsage(const FileMetaData& file);

using FileRef = std::shared_ptr<FileMetaData>;

}  // namespace varve
