// SPDX-License-Identifier: Apache-2.0

// Writes the MANIFEST of a repair: the id of the database, two edits for each family, and the
// numbers at the end. The order of records is one that every reader accepts: a family is added
// before its files.
//
//      db id | family 0: comparator | family 0: files | family 3: added | family 3: files | numbers

#include "db/recovery/repair_manifest.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "db/wal/log_writer.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/writable_file_writer.h"

namespace varve {

namespace {

// Bounds are stored like keys in tables: without timestamps if those are not persisted. Bounds that
// the repair has computed come from keys with timestamps.
InternalKey WithoutTimestamp(const InternalKey& bound, const InternalKeyComparator& icmp) {
  return InternalKey(icmp.KeyOf(bound), bound.sequence(), bound.type());
}

// Returns the first edit of a family: its comparator and, except for the default family, its name.
VersionEdit HeaderOf(uint32_t id, const PlannedFamily& family) {
  const SurveyedFamily& state = family.state;
  VersionEdit edit;
  edit.column_family = id;
  edit.family.comparator = state.comparator;
  if (family.icmp->timestamp_size() != 0) {
    edit.family.persist_timestamps = family.options.persist_user_defined_timestamps;
  }
  if (id != 0) edit.family.added = state.name;
  if (!state.merge_operator.empty()) edit.family.merge_operator = state.merge_operator;
  return edit;
}

// Returns the second edit of a family: the oldest log that it needs, its full_history_ts_low, its
// files, and the garbage in its blob files. The edit of the default family also has
// min_log_to_keep. That is a number of the whole database, which RocksDB writes in this place, too:
// the default family always exists.
VersionEdit StateOf(uint32_t id, const PlannedFamily& family, const RepairPlan& plan) {
  VersionEdit edit;
  edit.column_family = id;
  edit.log_number = family.state.log_number;
  if (!family.state.full_history_ts_low.empty()) {
    edit.family.full_history_ts_low = family.state.full_history_ts_low;
  }
  if (id == 0 && plan.manifest.min_log_number_to_keep != 0) {
    edit.numbers.min_log_to_keep = plan.manifest.min_log_number_to_keep;
  }
  for (const auto& [number, file] : family.state.blob_files) {
    edit.new_blob_files.push_back(file);
    // Tables that are back may refer to the same values.
    edit.new_blob_files.back().referred_once = false;
  }
  for (const auto& [number, garbage] : family.state.blob_garbage) {
    edit.blob_garbage.push_back(garbage);
  }
  for (const auto& [number, file] : family.state.files) {
    NewFile stored = file;
    // AddRecord encodes bounds as they are. Those of the MANIFEST have no timestamps if none are
    // stored; those that the repair has measured always have them, if the family's keys do.
    const bool measured = plan.measured_tables.count(number) > 0;
    if (measured && !stored.timestamps_persisted && family.icmp->timestamp_size() != 0) {
      stored.smallest = WithoutTimestamp(stored.smallest, *family.icmp);
      stored.largest = WithoutTimestamp(stored.largest, *family.icmp);
    }
    edit.new_files.push_back(std::move(stored));
  }
  return edit;
}

Status AddRecord(const VersionEdit& edit, wal::LogWriter* writer) {
  std::string record;
  if (!edit.EncodeTo(&record)) {
    return Status::Corruption("repair: a table that cannot be described in a MANIFEST");
  }
  return writer->AddRecord(record);
}

}  // namespace

// After an error there may be a file that CURRENT does not name.
Status WriteRepairManifest(FileSystem* fs, const std::string& db_name, const RepairPlan& plan,
                           uint64_t number) {
  VARVE_ASSERT(number < plan.next_file_number && !plan.families.empty());
  const std::string path = DescriptorFileName(db_name, number);
  std::unique_ptr<WritableFileWriter> file;
  VARVE_RETURN_IF_ERROR(
      WritableFileWriter::Create(fs, path, FileOptions(), WritableFileWriter::Options(), &file));
  wal::LogWriter writer(std::move(file), number, wal::LogWriterOptions{.manual_flush = true});
  if (!plan.manifest.db_id.empty()) {
    VersionEdit identity;
    identity.db_id = plan.manifest.db_id;
    VARVE_RETURN_IF_ERROR(AddRecord(identity, &writer));
  }
  uint32_t max_id = plan.manifest.max_family_id;
  for (const auto& [id, family] : plan.families) {
    max_id = std::max(max_id, id);
    VARVE_RETURN_IF_ERROR(AddRecord(HeaderOf(id, family), &writer));
    VARVE_RETURN_IF_ERROR(AddRecord(StateOf(id, family, plan), &writer));
  }
  VersionEdit totals;
  totals.numbers.prev_log = 0;
  totals.numbers.next_file = plan.next_file_number;
  totals.numbers.last_sequence = plan.last_sequence;
  if (plan.manifest.ttl_clock != 0) totals.ttl_clock = plan.manifest.ttl_clock;
  if (max_id > 0) totals.numbers.max_column_family = max_id;
  VARVE_RETURN_IF_ERROR(AddRecord(totals, &writer));
  // The contents are synced before the name. CURRENT names this MANIFEST only when the caller
  // changes it.
  VARVE_RETURN_IF_ERROR(writer.Sync(/*use_fsync=*/false));
  VARVE_RETURN_IF_ERROR(writer.Close());
  return SyncDirectory(fs, db_name);
}

}  // namespace varve
