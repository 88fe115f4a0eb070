// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes surviving entries and tombstones into table files, one after another.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/compaction/blob_output.h"
#include "db/compaction/compaction_iterator.h"
#include "db/compaction/output_splitter.h"
#include "db/compaction/surviving_tombstones.h"
#include "db/compaction/table_output.h"

namespace varve {

// Writes the files of one key range. If Run fails, the open file is deleted, and the finished ones
// in files() stay: the caller deletes them.
//
// Thread safety: none; used for one Run. `open` is called in the thread of Run or in the writer's
// own thread, never in both at once. Pointers are borrowed and must outlive the writer.
class OutputWriter {
 public:
  // Creates the next output file, empty.
  using OpenOutput = std::function<Status(std::unique_ptr<TableOutput>*)>;

  // `splitter` may be null: then everything goes into one file. With `own_thread` and enough
  // entries, a thread of the writer fills the tables while the work is urgent; the files are the
  // same. `blobs` (may be null: every value stays in its table) is borrowed.
  OutputWriter(OutputSplitter* splitter, const SurvivingTombstones* tombstones, OpenOutput open,
               bool own_thread = false, BlobOutput* blobs = nullptr);

  // Runs the iterator, which must have been started, to its end. `begin` and `end` (keys without
  // timestamps, exclusive end, null: open) limit the range of tombstones. `check` (may be null) is
  // called after the last entry; the last file is kept only if `check` returns OK.
  Status Run(CompactionIterator* iterator, const Slice* begin, const Slice* end,
             const std::function<Status()>& check = nullptr);

  std::vector<NewFile>& files() { return files_; }
  // Returns the properties of the files, in the same order.
  std::vector<TableProperties>& properties() { return properties_; }
  // Returns the times of writing them (TableOutputContext::time_files).
  const FileWriteTimes& times() const { return times_; }
  // Returns the processor time, in microseconds, of the writer's thread and those of its tables.
  uint64_t helper_cpu_micros() const { return helper_cpu_micros_; }
  // Returns the number of tombstones, counted per file, that were left out because they had no
  // effect.
  uint64_t expired_tombstones() const { return expired_tombstones_; }

 private:
  // Ends the open file, which may cover keys up to `upper`.
  Status FinishFile(const Slice* upper);
  // Takes entries as far as a second thread would not pay; all of them if there may be none.
  Status TakeEntries(CompactionIterator* iterator);
  // Takes the remaining entries, through the writer's own thread.
  Status TakeEntriesBeside(CompactionIterator* iterator);
  // Adds one entry, and begins a new file before the entry if the splitter says so. The splitter is
  // asked only where a user key begins.
  Status TakeEntry(const Slice& key, const Slice& value, bool starts_user_key);
  // Adds the entry to the open table; blobs_ decides whether its value goes there or into a blob
  // file. Requires blobs_.
  Status AddApart(Slice key, Slice value);

  OutputSplitter* const splitter_;
  const SurvivingTombstones* const tombstones_;
  const OpenOutput open_;
  const bool own_thread_;
  BlobOutput* const blobs_;

  // The open file; null between files.
  std::unique_ptr<TableOutput> output_;
  // Tombstones of the open file, or of the next one, are cut to begin at lower_ or behind; without
  // has_lower_ they are not cut.
  bool has_lower_ = false;
  std::string lower_;
  // Entries until the status of the file is looked at.
  uint32_t until_check_ = 0;
  // Finished files, with their properties, and sums over them.
  std::vector<NewFile> files_;
  std::vector<TableProperties> properties_;
  FileWriteTimes times_;
  uint64_t helper_cpu_micros_ = 0;
  uint64_t expired_tombstones_ = 0;
};

}  // namespace varve
