// SPDX-License-Identifier: Apache-2.0

// Writes a whole state as records of a fresh MANIFEST:
//
//      db id
//      family 0   header   comparator, persist_timestamps, merge operator
//                 state    log, full_history_ts_low, last sequence number, blob files, tables;
//                          family 0 alone: min_log_to_keep
//                 state    the same, and more tables ...
//      family 3   header   the same, and the family's name
//                 state    ...
//      totals     next file number, largest id of a family, last sequence number, gone tables,
//                 unread logs, TTL clock, positions of change streams
//
// What has no value is left out. Large families take several state records, each with a part of
// their tables. Totals come last, so a MANIFEST without them is known to be cut.

#include "db/version/version_state.h"

#include "db/version/version_builder.h"
#include "db/version/version_edit.h"
#include "db/version/version_set.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Keeps records well below the size limit.
constexpr size_t kFilesPerRecord = 50 * 1000;

Status Add(const VersionEdit& edit, size_t timestamp_size, std::vector<std::string>* records) {
  records->emplace_back();
  if (edit.EncodeTo(&records->back(), timestamp_size)) return Status::OK();
  return Status::InvalidArgument("version edit", "has a file that cannot be stored (no bounds?)");
}

}  // namespace

// Follows the drawing at the head of this file.
Status VersionState::EncodeTo(std::vector<std::string>* records) const {
  if (!db_id.empty()) {
    VersionEdit edit;
    edit.db_id = db_id;
    VARVE_RETURN_IF_ERROR(Add(edit, 0, records));
  }
  for (const Family& one : families) {
    const FamilyVersions& family = *one.family;
    const size_t timestamp_size = family.icmp->timestamp_size();
    VersionEdit header;
    header.column_family = family.id;
    header.family.comparator = family.comparator_name;
    // persist_timestamps may be wrong for a family that was not opened, but then the VersionSet is
    // read-only and writes no MANIFEST.
    if (timestamp_size != 0) header.family.persist_timestamps = family.persist_timestamps;
    if (family.id != 0) header.family.added = family.name;
    if (!one.merge_operator.empty()) header.family.merge_operator = one.merge_operator;
    VARVE_RETURN_IF_ERROR(Add(header, timestamp_size, records));
    VersionEdit state;
    state.column_family = family.id;
    state.log_number = one.log_number;
    // A number of the whole database, which RocksDB writes with the default family, too: that one
    // always exists.
    if (family.id == 0 && min_log_to_keep != 0) state.numbers.min_log_to_keep = min_log_to_keep;
    if (!one.full_history_ts_low.empty()) {
      state.family.full_history_ts_low = one.full_history_ts_low;
    }
    // Repeated in the totals. RocksDB writes it in the records of families, too, and readers take
    // the largest.
    state.numbers.last_sequence = last_sequence;
    // Blob files come in the same edit as the first tables, because RocksDB looks for a table's
    // blob file when it reads of the table.
    for (const BlobFileState& file : one.version->blob_files()) {
      state.new_blob_files.push_back(file.blobs->facts());
      if (file.garbage_count == 0) continue;
      state.blob_garbage.push_back({file.number(), file.garbage_count, file.garbage_bytes});
    }
    for (int level = 0; level < one.version->num_levels(); level++) {
      for (const FileRef& file : one.version->level(level).files()) {
        state.new_files.push_back(DescribeFile(*file, level));
        if (one_directory) state.new_files.back().path_id = 0;
        if (state.new_files.size() < kFilesPerRecord) continue;
        VARVE_RETURN_IF_ERROR(Add(state, timestamp_size, records));
        state.new_files.clear();
        state.new_blob_files.clear();
        state.blob_garbage.clear();
      }
    }
    VARVE_RETURN_IF_ERROR(Add(state, timestamp_size, records));
  }
  VersionEdit totals;
  totals.numbers.prev_log = 0;
  totals.numbers.next_file = next_file;
  if (max_family_id > 0) totals.numbers.max_column_family = max_family_id;
  totals.numbers.last_sequence = last_sequence;
  totals.gone_tables = gone_tables;
  totals.unread_logs = unread_logs;
  if (ttl_clock != 0) totals.ttl_clock = ttl_clock;
  totals.change_positions = change_positions;
  return Add(totals, 0, records);
}

}  // namespace varve
