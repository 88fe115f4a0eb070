// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the engine knows of one table file: the MANIFEST's facts, and the open reader.

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

// What range tombstones of newer tables mean for a file, as far as covered_files has looked.
struct CoverFound {
  // The file's own tombstones were held against all beneath it that was there then.
  bool applied = false;
  // All tombstones that were applied before it came were held against the file.
  bool judged = false;
  // Readers at this sequence number and later see nothing of it. kMaxSequenceNumber: not known.
  SequenceNumber covered_from = kMaxSequenceNumber;
};

// What the planning of compactions has noted of a file.
struct PlanningNotes {
  bool being_compacted = false;
  bool marked_for_compaction = false;
  int last_job = 0;  // the compaction that took it as an input, for listeners; 0: none
  CoverFound cover;
};

// Shared by every Version that holds the file; when the last share goes and the file was deleted by
// a logged edit, it is handed to the obsolete-file queue (ObsoleteFileQueue).
//
// Thread safety: facts are constant once the file is in a Version. `notes` are guarded by the DB
//   mutex. `reader` and the counts are published once.
struct FileMetaData : TableFacts {
  FileMetaData() = default;
  ~FileMetaData() { delete reader.load(std::memory_order_acquire); }
  FileMetaData(const FileMetaData&) = delete;
  FileMetaData& operator=(const FileMetaData&) = delete;

  // Once nobody can be reading: of an obsolete file the block cache keeps nothing either.
  void CloseTable() {
    const std::unique_ptr<TableReader> table(reader.exchange(nullptr, std::memory_order_acq_rel));
    if (table != nullptr && obsolete.load(std::memory_order_relaxed)) table->ForgetBlocks();
  }

  std::string FileName() const {
    VARVE_ASSERT(paths != nullptr);
    return paths->FileName(*this);
  }
  // The name that LevelDB gave it.
  std::string LevelDbFileName() const { return paths->LevelDbFileName(*this); }
  // As TablePaths::UseFile.
  template <typename Use>
  auto UseFile(const Use& use) const {
    return paths->UseFile(*this, use);
  }

  // Of the table: the MANIFEST's, where it has them, else those of the properties, from the first
  // opening on. All 0 until then.
  const TableCounts& counts() const {
    static constexpr TableCounts kNone;
    return counts_known_.load(std::memory_order_acquire) ? counts_ : kNone;
  }
  // Once; callers that may meet each other exclude each other.
  void SetCounts(const TableCounts& counts) {
    if (!counts.known() || counts_known_.load(std::memory_order_relaxed)) return;
    counts_ = counts;
    counts_known_.store(true, std::memory_order_release);
  }

  PlanningNotes notes;

  // Of the family, which this may outlive. Set by who puts it into a version; constant then.
  TablePathsRef paths;

  // What this takes, charged to the block cache if the options ask for it.
  ChargedBytes charged;

  // Set by the version set once a logged edit has removed the file from the current version.
  std::atomic<bool> obsolete{false};
  FileMetaData* next_obsolete = nullptr;  // while the obsolete-file queue has it

  // The file, opened by TableCache::OpenAhead, for the reader that is made at the first use. Of the
  // table cache, under its lock.
  std::unique_ptr<RandomAccessFileReader> opened_ahead;

  // The open reader when open files are unlimited: written once (release) by the table cache, read
  // (acquire) by every look-up; null until first use. Owned.
  std::atomic<TableReader*> reader{nullptr};

 private:
  TableCounts counts_;
  std::atomic<bool> counts_known_{false};
};

// Bytes that one file's metadata takes, without its reader.
size_t MemoryUsage(const FileMetaData& file);

using FileRef = std::shared_ptr<FileMetaData>;

}  // namespace varve
