// SPDX-License-Identifier: Apache-2.0
#pragma once

// One record of the MANIFEST: a change of one column family (or of the database), encoded as in
// FORMAT.md.
//
// A flush writes one edit: its table is added to L0, and the family's log number rises. A
// compaction writes one: inputs deleted, outputs added. An edit takes effect as a whole, because a
// record of the MANIFEST is either read with a correct checksum or not at all.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "db/version/change_position.h"
#include "db/version/table_counts.h"
#include "db/version/table_facts.h"

namespace varve {

// A file as an edit describes it: the MANIFEST's facts without runtime state.
struct NewFile : TableFacts {
  int level = 0;
  bool seqs_known = true;  // false for files of LevelDB's tag 7
  // True if the table asked for a compaction when it was built.
  bool marked_for_compaction = false;
  // Numbers of entries and deletions, for pickers; not known for files of other programs.
  TableCounts counts;
};

// Changes of a family other than tables; unset members leave their value unchanged.
struct FamilyChange {
  std::optional<std::string> added;  // name of a new family
  bool dropped = false;
  std::optional<std::string> comparator;
  std::optional<bool> persist_timestamps;     // set if the comparator has timestamps
  std::optional<std::string> merge_operator;  // name of the operator
  std::optional<std::string> full_history_ts_low;
};

// Numbers of the whole database; none decreases.
struct DatabaseNumbers {
  std::optional<uint64_t> next_file;
  std::optional<SequenceNumber> last_sequence;
  std::optional<uint64_t> prev_log;  // written by LevelDB
  std::optional<uint64_t> min_log_to_keep;
  std::optional<uint32_t> max_column_family;
};

// Plain data; not synchronized. An optional member without a value, and an empty list, say nothing.
struct VersionEdit {
  uint32_t column_family = 0;  // id of the family that the edit changes
  FamilyChange family;
  DatabaseNumbers numbers;
  std::optional<std::string> db_id;
  std::optional<uint64_t> log_number;  // the family's: data of earlier logs is in its tables
  std::optional<uint32_t> atomic_group_remaining;       // records of its atomic group that follow
  std::vector<std::pair<int, uint64_t>> deleted_files;  // pairs of level and number
  std::vector<NewFile> new_files;
  std::vector<BlobFileFacts> new_blob_files;
  std::vector<BlobGarbage> blob_garbage;
  std::vector<std::pair<int, InternalKey>> compact_cursors;
  // Written with a snapshot of the state, which does not show them: tables that earlier edits
  // removed and whose files may still exist; and ranges [first, end) of logs that openings looked
  // for in vain.
  std::vector<uint64_t> gone_tables;
  std::vector<std::pair<uint64_t, uint64_t>> unread_logs;
  // Seconds since 1970; lifetimes are never judged by an earlier time. The last value counts.
  std::optional<uint64_t> ttl_clock;
  std::vector<ChangePosition> change_positions;  // each replaces the one of the same name

  // Appends the record's bytes. Bounds of files without timestamps are stored without them, if the
  // family's keys have timestamps of `timestamp_size` bytes. Returns false if a field cannot be
  // encoded (an empty boundary key).
  bool EncodeTo(std::string* dst, size_t timestamp_size = 0) const;
  // True if it adds data files, or says something of those that there are.
  bool ChangesFiles() const {
    return !new_files.empty() || !deleted_files.empty() || !new_blob_files.empty() ||
           !blob_garbage.empty();
  }
  // Replaces *this. Returns Corruption, naming the field and its offset in the record, on failure.
  Status DecodeFrom(const Slice& record);
  // Returns the fields for people.
  std::string DebugString(bool hex_keys) const;
};

}  // namespace varve
