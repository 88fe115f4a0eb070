// SPDX-License-Identifier: Apache-2.0

// Converts the files of a copy set to the structs of RocksDB's calls.

#include "db/copy/live_files.h"

#include <memory>
#include <utility>

#include "db/copy/copy_set.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Returns the file in RocksDB's form, with its checksum if that is asked for.
LiveFileStorageInfo Describe(const CopyFile& file, bool with_checksum) {
  LiveFileStorageInfo info;
  info.relative_filename = file.source_name();
  info.directory = file.directory;
  info.file_number = file.number;
  info.file_type = file.type;
  info.size = file.size;
  // The copy of CURRENT gets these contents. The OPTIONS file exists and never changes, so it is
  // copied.
  if (file.type == kCurrentFile) info.replacement_contents = *file.contents;
  // A file that may still grow must be truncated to its size at that moment.
  info.trim_to_size = !file.may_link && !file.contents.has_value();
  if (file.table != nullptr) info.temperature = file.table->temperature;
  if (!with_checksum) return info;
  info.file_checksum = kUnknownFileChecksum;
  info.file_checksum_func_name = kUnknownFileChecksumFuncName;
  if (file.table != nullptr && !file.table->checksum.function.empty()) {
    info.file_checksum = file.table->checksum.value;
    info.file_checksum_func_name = file.table->checksum.function;
  }
  return info;
}

}  // namespace

// The set is released on return, so the caller must have disabled deletions if it copies the files.
Status ListFilesOfOneMoment(Engine* engine, const LiveFilesStorageInfoOptions& options,
                            std::vector<LiveFileStorageInfo>* files) {
  CopyWanted wanted;
  wanted.call = "GetLiveFilesStorageInfo";
  wanted.log_bytes_for_flush = options.wal_size_for_flush;
  wanted.flush_together = options.atomic_flush;
  wanted.own_manifest = true;
  std::unique_ptr<CopySet> set;
  VARVE_RETURN_IF_ERROR(CopySet::Take(engine, wanted, &set));
  std::vector<LiveFileStorageInfo> all;
  all.reserve(set->files().size());
  for (const CopyFile& file : set->files()) {
    all.push_back(Describe(file, options.include_checksum_info));
  }
  *files = std::move(all);
  return Status::OK();
}

// A file without a known checksum is listed with RocksDB's words for that.
Status ListChecksums(Engine* engine, FileChecksumList* list) {
  VersionState state;
  {
    DbLock lock(&engine->state.mu);
    state = engine->state.versions->State();
  }
  list->reset();
  for (const VersionState::Family& one : state.families) {
    for (int level = 0; level < one.version->num_levels(); level++) {
      for (const FileRef& file : one.version->level(level).files()) {
        const bool known = !file->checksum.function.empty();
        VARVE_RETURN_IF_ERROR(list->InsertOneFileChecksum(
            file->number, known ? file->checksum.value : kUnknownFileChecksum,
            known ? file->checksum.function : kUnknownFileChecksumFuncName));
      }
    }
    for (const BlobFileState& file : one.version->blob_files()) {
      const BlobFileChecksum& checksum = file.blobs->facts().checksum;
      const bool known = !checksum.function.empty();
      VARVE_RETURN_IF_ERROR(
          list->InsertOneFileChecksum(file.number(), known ? checksum.value : kUnknownFileChecksum,
                                      known ? checksum.function : kUnknownFileChecksumFuncName));
    }
  }
  return Status::OK();
}

}  // namespace varve
