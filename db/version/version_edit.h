// SPDX-License-Identifier: Apache-2.0
#pragma once

// One record of the MANIFEST: a change of one column family (or of the database), encoded as in
// FORMAT.md.

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
  bool marked_for_compaction = false;
  uint64_t oldest_blob_file_number = 0;
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

// Plain data; not synchronized.
struct VersionEdit {
  uint32_t column_family = 0;
  FamilyChange family;
  DatabaseNumbers numbers;
  std::optional<std::string> db_id;
  std::optional<uint64_t> log_number;  // the family's: data of earlier logs is in its tables
  bool has_blob_files = false;         // true: the database has blob files and is refused
  std::optional<uint32_t> atomic_group_remaining;
  std::vector<std::pair<int, uint64_t>> deleted_files;  // pairs of level and number
  std::vector<NewFile> new_files;
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
  // Replaces *this. Returns Corruption, naming the field and its offset in the record, on failure.
  Status DecodeFrom(const Slice& record);
  std::string DebugString(bool hex_keys) const;
};

}  // namespace varve
