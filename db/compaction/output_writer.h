// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pours surviving entries and tombstones into table files, one after another.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/compaction/compaction_iterator.h"
#include "db/compaction/output_splitter.h"
#include "db/compaction/surviving_tombstones.h"
#include "db/compaction/table_output.h"

namespace varve {

// Writes the files of one key range. The open file goes when anything fails; finished ones are the
// caller's.
//
// Thread safety: none; `open` is called from the thread that runs Run or from the writer's own,
// never from both at once.
class OutputWriter {
 public:
  using OpenOutput = std::function<Status(std::unique_ptr<TableOutput>*)>;

  // `splitter` may be null: everything goes into one file. With `own_thread`, and entries enough,
  // tables are filled by a thread of the writer's own as soon as the work hurries; the files are
  // the same.
  OutputWriter(OutputSplitter* splitter, const SurvivingTombstones* tombstones, OpenOutput open,
               bool own_thread = false);

  // Runs the iterator, which was started, to its end. `begin` and `end` (keys without timestamps,
  // exclusive end, null: open) bound where tombstones may reach. `check` (may be null) is asked
  // after the last entry; the last file is kept only if it says OK.
  Status Run(CompactionIterator* iterator, const Slice* begin, const Slice* end,
             const std::function<Status()>& check = nullptr);

  std::vector<NewFile>& files() { return files_; }
  // Of the files, in the same order.
  std::vector<TableProperties>& properties() { return properties_; }
  // What writing them took (TableOutputContext::time_files).
  const FileWriteTimes& times() const { return times_; }
  // Processor time, in microseconds, that the writer's thread and those of its tables took.
  uint64_t helper_cpu_micros() const { return helper_cpu_micros_; }
  // Tombstones, as far as files went, that were left out as they delete nothing any more.
  uint64_t expired_tombstones() const { return expired_tombstones_; }

 private:
  // Ends the open file, which may reach up to `upper`.
  Status FinishFile(const Slice* upper);
  // Up to `most` entries.
  Status TakeEntries(CompactionIterator* iterator, uint64_t most);
  // The rest, through the writer's own thread.
  Status TakeEntriesBeside(CompactionIterator* iterator);
  Status TakeEntry(const Slice& key, const Slice& value, bool starts_user_key);

  OutputSplitter* const splitter_;
  const SurvivingTombstones* const tombstones_;
  const OpenOutput open_;
  const bool own_thread_;

  std::unique_ptr<TableOutput> output_;
  bool has_lower_ = false;
  std::string lower_;  // where the open (or next) file's tombstones may begin
  uint32_t until_check_ = 0;
  std::vector<NewFile> files_;
  std::vector<TableProperties> properties_;
  FileWriteTimes times_;
  uint64_t helper_cpu_micros_ = 0;
  uint64_t expired_tombstones_ = 0;
};

}  // namespace varve
