// SPDX-License-Identifier: Apache-2.0

// Implements the methods of DB that are not virtual and need more than one call.

#include <string>
#include <vector>

#include "varve/db.h"

namespace varve {

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
