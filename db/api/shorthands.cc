// SPDX-License-Identifier: Apache-2.0

// Implements the methods of DB that are not virtual and need more than one call, or memory. What
// they allocate themselves is allocated under a handler, like what their calls allocate.

#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"

#include "util/base/caught_exception.h"

namespace varve {

Status DB::Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               std::string* value, std::string* timestamp) try {
  if (value == nullptr) return Status::InvalidArgument("get: the place for the value is null");
  PinnableSlice pinned(value);
  Status s = Get(options, column_family, key, &pinned, timestamp);
  if (s.ok() && pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
  return s;
} catch (...) {
  return CaughtException();
}

Status DB::PrepareFileIngestion(ColumnFamilyHandle* column_family,
                                const std::vector<std::string>& external_files,
                                const IngestExternalFileOptions& options,
                                std::unique_ptr<FileIngestionHandle>* handle) try {
  IngestExternalFileArg arg;
  arg.column_family = column_family;
  arg.external_files = external_files;
  arg.options = options;
  return PrepareFileIngestion({arg}, handle);
} catch (...) {
  return CaughtException();
}

Status DB::CommitFileIngestionHandle(FileIngestionHandle* handle) try {
  return CommitFileIngestionHandles({handle});
} catch (...) {
  return CaughtException();
}

Status DB::CreateColumnFamilyWithImport(const ColumnFamilyOptions& options,
                                        const std::string& column_family_name,
                                        const ImportColumnFamilyOptions& import_options,
                                        const ExportImportFilesMetaData& metadata,
                                        ColumnFamilyHandle** handle) try {
  return CreateColumnFamilyWithImport(options, column_family_name, import_options,
                                      std::vector<const ExportImportFilesMetaData*>{&metadata},
                                      handle);
} catch (...) {
  return CaughtException();
}

Status DB::DeleteFilesInRanges(ColumnFamilyHandle* column_family, const RangeOpt* ranges, size_t n,
                               bool include_end) try {
  std::vector<RangePtr> pointers;
  pointers.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    pointers.emplace_back(ranges[i].start.AsPtr(), ranges[i].limit.AsPtr());
  }
  return DeleteFilesInRanges(column_family, pointers.data(), n, include_end);
} catch (...) {
  return CaughtException();
}

Status DB::GetApproximateSizes(ColumnFamilyHandle* column_family, const Range* ranges, int n,
                               uint64_t* sizes, SizeApproximationFlags include_flags) {
  const auto has = [include_flags](SizeApproximationFlags flag) {
    return (include_flags & flag) == flag;
  };
  SizeApproximationOptions options;
  options.include_memtables = has(SizeApproximationFlags::INCLUDE_MEMTABLES);
  options.include_files = has(SizeApproximationFlags::INCLUDE_FILES);
  return GetApproximateSizes(options, column_family, ranges, n, sizes);
}

std::vector<Status> DB::MultiGet(const ReadOptions& options,
                                 const std::vector<ColumnFamilyHandle*>& column_families,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values,
                                 std::vector<std::string>* timestamps) {
  const size_t n = keys.size();
  std::vector<Status> statuses(n);
  values->assign(n, std::string());
  if (timestamps != nullptr) timestamps->assign(n, std::string());
  // There is no call status, so each key gets the error.
  if (column_families.size() != n) {
    statuses.assign(n, Status::InvalidArgument("MultiGet: one column family per key needed"));
    return statuses;
  }
  std::vector<ColumnFamilyHandle*> families(column_families);
  std::vector<PinnableSlice> pinned;
  pinned.reserve(n);
  // Each result is to be built in the caller's string. A value that was pinned elsewhere instead is
  // copied there at the end.
  for (size_t i = 0; i < n; ++i) pinned.emplace_back(&(*values)[i]);
  MultiGet(options, n, families.data(), keys.data(), pinned.data(),
           timestamps == nullptr ? nullptr : timestamps->data(), statuses.data());
  for (size_t i = 0; i < n; ++i) {
    if (statuses[i].ok() && pinned[i].IsPinned()) {
      (*values)[i].assign(pinned[i].data(), pinned[i].size());
    }
  }
  return statuses;
}

}  // namespace varve
