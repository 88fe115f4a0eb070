// SPDX-License-Identifier: Apache-2.0

// Reads and writes the description of an export: records of a MANIFEST that only add one family and
// its tables, and never remove any. Its bytes are not trusted.

#include "db/copy/export_file.h"

#include <memory>
#include <utility>
#include <vector>

#include "db/copy/manifest_bytes.h"
#include "db/version/version_builder.h"
#include "db/version/version_edit.h"
#include "db/version/version_set.h"
#include "db/wal/log_reader.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/sequential_file_reader.h"

namespace varve {

namespace {

// Returns the table, which lies in that directory, in the form that an import gets.
LiveFileMetaData Describe(const NewFile& file, const std::string& directory) {
  LiveFileMetaData out;
  out.name = "/" + TableFileBaseName(file.number);
  out.db_path = directory;
  out.file_number = file.number;
  out.level = file.level;
  out.size = file.size;
  out.smallest_seqno = file.smallest_seq;
  out.largest_seqno = file.largest_seq;
  out.smallestkey = file.smallest.user_key().ToString();
  out.largestkey = file.largest.user_key().ToString();
  out.smallest = file.smallest.Encode().ToString();
  out.largest = file.largest.Encode().ToString();
  out.epoch_number = file.epoch_number;
  out.temperature = file.temperature;
  out.file_checksum = file.checksum.value;
  out.file_checksum_func_name = file.checksum.function;
  return out;
}

}  // namespace

void DescribeExport(const VersionState& state, const std::string& directory,
                    ExportImportFilesMetaData* metadata) {
  const VersionState::Family& family = state.families.front();
  metadata->db_comparator_name = family.family->comparator_name;
  for (int level = 0; level < family.version->num_levels(); level++) {
    for (const FileRef& table : family.version->level(level).files()) {
      metadata->files.push_back(Describe(DescribeFile(*table, level), directory));
    }
  }
}

Status EncodeExport(const VersionState& state, std::string* bytes) {
  std::vector<std::string> records;
  VARVE_RETURN_IF_ERROR(state.EncodeTo(&records));
  return FrameRecords(records, /*manifest_number=*/0, bytes);
}

// Accepts only a complete file. Its last record has the counter of file numbers, so a file that was
// truncated between records is recognized, too.
Status ReadExportFile(FileSystem* fs, const std::string& directory,
                      ExportImportFilesMetaData* metadata) {
  const std::string path = directory + "/" + kExportFileName;
  uint64_t size = 0;
  VARVE_RETURN_IF_ERROR(fs->GetFileSize(path, IOOptions(), &size, nullptr));
  if (size > kExportFileBytesMax) {
    return Status::Corruption(path, "has " + std::to_string(size) +
                                        " bytes, and no export has more "
                                        "than " +
                                        std::to_string(kExportFileBytesMax));
  }
  std::unique_ptr<SequentialFileReader> file;
  VARVE_RETURN_IF_ERROR(SequentialFileReader::Open(fs, path, FileOptions(), &file));
  wal::LogReader reader(std::move(file), /*log_number=*/0, path, nullptr);
  ExportImportFilesMetaData read;
  bool whole = false;
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kAbsoluteConsistency)) {
    VersionEdit edit;
    const Status s = edit.DecodeFrom(record);
    const std::string at = "record at " + std::to_string(reader.LastRecordOffset());
    if (!s.ok()) return Status::Corruption(path, at + ": " + s.ToString());
    // An edit that removes tables would make the list of files wrong.
    if (whole || !edit.deleted_files.empty() || !edit.blob_garbage.empty() || edit.family.dropped) {
      return Status::Corruption(path, at + " is in no export");
    }
    if (edit.family.comparator.has_value()) read.db_comparator_name = *edit.family.comparator;
    for (const NewFile& added : edit.new_files) read.files.push_back(Describe(added, directory));
    // The last record has the counter of files.
    whole = edit.numbers.next_file.has_value();
  }
  VARVE_RETURN_IF_ERROR(reader.io_status());
  if (reader.damage().first_bad_offset != UINT64_MAX) {
    return Status::Corruption(path, "damaged at " +
                                        std::to_string(reader.damage().first_bad_offset) + ": " +
                                        reader.damage().reason);
  }
  if (!whole || read.db_comparator_name.empty()) return Status::Corruption(path, "is cut");
  *metadata = std::move(read);
  return Status::OK();
}

}  // namespace varve
