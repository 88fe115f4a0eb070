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

#include "db/version/file_metadata.h"

namespace varve {

// A file as an edit carries it: the MANIFEST's facts without the runtime state.
struct NewFile {
  int level = 0;
  uint64_t number = 0;
  uint32_t path_id = 0;
  uint64_t size = 0;
  InternalKey smallest;
  InternalKey largest;
  SequenceNumber smallest_seq = 0;
  SequenceNumber largest_seq = 0;
  bool seqs_known = true;  // false for LevelDB's tag 7
  bool marked_for_compaction = false;
  uint64_t epoch_number = kUnknownEpochNumber;
  uint64_t oldest_ancestor_time = 0;
  uint64_t file_creation_time = 0;
  uint64_t tail_size = 0;
  uint64_t oldest_blob_file_number = 0;
  std::string unique_id;
  std::string file_checksum;
  std::string file_checksum_func_name;
  Temperature temperature = Temperature::kUnknown;
  bool timestamps_persisted = true;  // see FileMetaData
  TableCounts counts;
};

// Plain data; no thread safety of its own.
struct VersionEdit {
  uint32_t column_family = 0;
  std::optional<std::string> db_id;
  std::optional<std::string> comparator;
  std::optional<uint64_t> log_number;
  std::optional<uint64_t> prev_log_number;
  std::optional<uint64_t> next_file_number;
  std::optional<SequenceNumber> last_sequence;
  std::optional<uint64_t> min_log_number_to_keep;
  std::optional<uint32_t> max_column_family;
  std::optional<std::string> full_history_ts_low;
  std::optional<bool> persist_timestamps;        // beside a comparator that has them
  std::optional<std::string> merge_operator;     // its name
  std::optional<std::string> column_family_add;  // the new family's name
  bool column_family_drop = false;
  bool has_blob_files = false;  // the database holds blob files: refused
  std::optional<uint32_t> atomic_group_remaining;
  std::vector<std::pair<int, uint64_t>> deleted_files;  // level, number
  std::vector<NewFile> new_files;
  std::vector<std::pair<int, InternalKey>> compact_cursors;
  // Beside a snapshot of the state, what it does not show: tables that edits before it removed, and
  // whose files may be there still; and numbers (first, behind the last) of logs that openings
  // asked for and did not find.
  std::vector<uint64_t> gone_tables;
  std::vector<std::pair<uint64_t, uint64_t>> unread_logs;

  // Appends the record's bytes. Bounds of files without timestamps are stored without them, if keys
  // of the family have timestamps of `timestamp_size` bytes. False when a field cannot be encoded
  // (an empty boundary key).
  bool EncodeTo(std::string* dst, size_t timestamp_size = 0) const;
  // Replaces *this. Corruption naming the field and its offset in the record.
  Status DecodeFrom(const Slice& record);
  std::string DebugString(bool hex_keys) const;
};

}  // namespace varve
