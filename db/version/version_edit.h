// SPDX-License-Identifier: Apache-2.0
#pragma once

// One delta of the MANIFEST: what changed in one column family (or in the database), encoded as in
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

// A file as an edit carries it: the MANIFEST's facts without the runtime state.
struct NewFile : TableFacts {
  int level = 0;
  bool seqs_known = true;  // false for LevelDB's tag 7
  bool marked_for_compaction = false;
  uint64_t oldest_blob_file_number = 0;
  TableCounts counts;
};

// What an edit says of its family beside the tables; what is not set stays as it was.
struct FamilyChange {
  std::optional<std::string> added;  // the name of a new family
  bool dropped = false;
  std::optional<std::string> comparator;
  std::optional<bool> persist_timestamps;     // beside a comparator that has them
  std::optional<std::string> merge_operator;  // its name
  std::optional<std::string> full_history_ts_low;
};

// Numbers of the whole database; none goes back.
struct DatabaseNumbers {
  std::optional<uint64_t> next_file;
  std::optional<SequenceNumber> last_sequence;
  std::optional<uint64_t> prev_log;  // LevelDB's
  std::optional<uint64_t> min_log_to_keep;
  std::optional<uint32_t> max_column_family;
};

// Plain data; no thread safety of its own.
struct VersionEdit {
  uint32_t column_family = 0;
  FamilyChange family;
  DatabaseNumbers numbers;
  std::optional<std::string> db_id;
  std::optional<uint64_t> log_number;  // the family's: what earlier logs have is in its tables
  bool has_blob_files = false;         // the database holds blob files: refused
  std::optional<uint32_t> atomic_group_remaining;
  std::vector<std::pair<int, uint64_t>> deleted_files;  // level, number
  std::vector<NewFile> new_files;
  std::vector<std::pair<int, InternalKey>> compact_cursors;
  // Beside a snapshot of the state, what it does not show: tables that edits before it removed, and
  // whose files may be there still; and numbers (first, after the last) of logs that openings asked
  // for and did not find.
  std::vector<uint64_t> gone_tables;
  std::vector<std::pair<uint64_t, uint64_t>> unread_logs;
  // Seconds since 1970: lifetimes are judged by no earlier time. The last one stands.
  std::optional<uint64_t> ttl_clock;
  std::vector<ChangePosition> change_positions;  // each in place of what its name had

  // Appends the record's bytes. Bounds of files without timestamps are stored without them, if keys
  // of the family have timestamps of `timestamp_size` bytes. False when a field cannot be encoded
  // (an empty boundary key).
  bool EncodeTo(std::string* dst, size_t timestamp_size = 0) const;
  // Replaces *this. Corruption naming the field and its offset in the record.
  Status DecodeFrom(const Slice& record);
  std::string DebugString(bool hex_keys) const;
};

}  // namespace varve
