// SPDX-License-Identifier: Apache-2.0
#include "db/engine/merge_folding.h"

#include <thread>
#include <vector>

#include "db/read/get.h"
#include "db/read/merge_read.h"
#include "util/base/assert.h"

namespace varve {

namespace {

// Concurrent writes take microseconds, except those that wait for a thread to be scheduled.
constexpr int kYieldsMax = 1000;

// Reads the value that the key has at `sequence`.
bool ReadValue(const ReadOptions& options, const SuperVersion& super_version,
               SequenceNumber sequence, const Slice& user_key, PinnableSlice* value) {
  PointLookup lookup(user_key, sequence, value, &super_version.merger());
  if (!GetFromSuperVersion(options, super_version, &lookup, nullptr).ok()) return false;
  if (lookup.operands() == nullptr) return lookup.state() == PointLookup::State::kFound;
  return MergeForRead(options, super_version, &lookup, value, nullptr).ok();
}

}  // namespace

ColumnFamily* FoldingResolver::FamilyOf(uint32_t id) {
  if (last_family_ == nullptr || last_family_->id() != id) {
    last_family_ = state_.families.FindById(id);
  }
  return last_family_;
}

bool FoldingResolver::FoldsMerges(uint32_t family) {
  const ColumnFamily* const found = FamilyOf(family);
  // A later write may have an older timestamp, and belong below the operand.
  return found != nullptr && found->max_successive_merges() != 0 &&
         found->icmp().timestamp_size() == 0;
}

bool FoldingResolver::AllBeforeAreIn() const {
  for (int yields = 0; state_.versions->last_sequence() + 1 < first_; yields++) {
    if (yields == kYieldsMax) return false;
    std::this_thread::yield();
  }
  return true;
}

bool FoldingResolver::FoldMerge(uint32_t family, SequenceNumber sequence, const Slice& key,
                                const Slice& operand, std::string* value) {
  VARVE_ASSERT(sequence >= first_);
  ColumnFamily* const found = FamilyOf(family);
  const size_t most = found == nullptr ? 0 : found->max_successive_merges();
  if (most == 0 || !AllBeforeAreIn() || found->mem()->CountMerges(key, sequence - 1, most) < most) {
    return false;
  }
  const ReadGuard super_version(found);
  ReadOptions options;
  if (!super_version->options().strict_max_successive_merges) options.read_tier = kBlockCacheTier;
  PinnableSlice base;
  if (!ReadValue(options, *super_version, sequence - 1, key, &base)) return false;
  Slice result;
  const std::vector<Slice> operands = {operand};
  if (!super_version->merger().Full(key, &base, operands, value, &result).ok()) return false;
  if (result.data() != value->data()) value->assign(result.data(), result.size());
  return true;
}

}  // namespace varve
