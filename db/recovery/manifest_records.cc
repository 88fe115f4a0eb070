// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/manifest_records.h"

#include <memory>
#include <utility>
#include <vector>

#include "db/wal/log_reader.h"
#include "util/base/status_macros.h"
#include "util/env/sequential_file_reader.h"

namespace varve {

namespace {

constexpr char kOutOfPlace[] = "a record that cannot be";

}  // namespace

// The edits of an atomic group have counts that go down to 0. Damage is not an error of the call,
// because its callers need everything before it.
Status ReadManifestRecords(
    FileSystem* fs, const FileOptions& file_options, const std::string& path,
    const std::function<bool(std::span<const VersionEdit> edits, uint64_t offset)>& take,
    ManifestEnd* end) {
  std::unique_ptr<SequentialFileReader> file;
  VARVE_RETURN_IF_ERROR(
      SequentialFileReader::Open(fs, path, fs->OptimizeForManifestRead(file_options), &file));
  wal::LogReader reader(std::move(file), /*log_number=*/0, path, nullptr);
  std::vector<VersionEdit> group;
  Slice record;
  std::string scratch;
  const auto at = [](uint64_t offset) { return " at offset " + std::to_string(offset); };
  while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kTolerateCorruptedTailRecords)) {
    const uint64_t offset = reader.LastRecordOffset();
    VersionEdit edit;
    const Status s = edit.DecodeFrom(record);
    const bool alone = !edit.atomic_group_remaining.has_value();
    const bool last = alone || *edit.atomic_group_remaining == 0;
    // An edit without a count must not be within a group.
    const bool in_place = !alone || group.empty();
    group.push_back(std::move(edit));
    if (!s.ok()) {
      end->damage = s.ToString() + at(offset);
    } else if (!in_place || (last && !take(group, offset))) {
      end->damage = kOutOfPlace + at(offset);
    }
    if (!end->damage.empty()) return Status::OK();
    if (last) group.clear();
    end->offset = reader.LastRecordEnd();
  }
  VARVE_RETURN_IF_ERROR(reader.io_status());
  const wal::LogDamage& damage = reader.damage();
  // A record that was being written when the process ended had no effect yet.
  if (damage.torn_tail) return Status::OK();
  if (damage.hole) {
    end->damage = "zeros before the last record";
  } else if (damage.first_bad_offset != UINT64_MAX) {
    end->damage = damage.reason + at(damage.first_bad_offset);
  }
  return Status::OK();
}

}  // namespace varve
