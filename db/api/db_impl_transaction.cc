// SPDX-License-Identifier: Apache-2.0

// What transactions ask of the database beyond its public calls.

#include <algorithm>

#include "db/api/db_impl.h"
#include "db/read/get.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

Status DbImpl::FindNewest(ColumnFamilyHandle* handle, const Slice& key, NewestWrite* newest) try {
  VARVE_ASSERT(newest != nullptr);
  VARVE_RETURN_IF_ERROR(CheckOpen());
  Status s;
  ColumnFamily* const family = engine_->state.Resolve(handle, &s);
  if (family == nullptr) return s;
  const ReadOptions options;
  ReadGuard super_version(family);
  PointLookup lookup(key, ReadSequence(options), /*value=*/nullptr);
  s = GetFromSuperVersion(options, *super_version, &lookup, /*statistics=*/nullptr);
  // Without an operator the search ends at the newest operand, as at any entry, and complains.
  const bool is_operand = s.IsInvalidArgument();
  if (!s.ok() && !is_operand && lookup.found_seq() == 0) return s;
  newest->found = is_operand || lookup.state() != PointLookup::State::kSearching;
  newest->sequence = std::max(lookup.found_seq(), lookup.covering_seq());
  return Status::OK();
} catch (...) {
  return CaughtException();
}

void DbImpl::WatchKeys() {
  engine_->state.commit->WatchKeys();
}

Status DbImpl::WriteIf(const WriteOptions& options, WriteBatch* updates,
                       WriteCondition* condition) try {
  WriteRequest request(updates);
  request.SetCondition(condition);
  return Submit(options, &request, nullptr);
} catch (...) {
  return CaughtException();
}

SequenceNumber DbImpl::WaitForAllWrites() {
  engine_->state.commit->WaitForAll();
  return engine_->state.versions->last_sequence();
}

const Comparator* DbImpl::ComparatorOf(uint32_t family) {
  return engine_->state.families.ComparatorOf(family);
}

std::unique_ptr<ColumnFamilyHandle> DbImpl::OpenFamily(uint32_t id) {
  DbLock lock(&engine_->state.mu);
  ColumnFamily* const family = engine_->state.families.FindById(id);
  if (family == nullptr) return nullptr;
  return std::make_unique<ColumnFamilyHandleImpl>(family->shared_from_this(), /*counted=*/false);
}

}  // namespace varve
