// SPDX-License-Identifier: Apache-2.0
#include "db/engine/merge_folding.h"

#include <thread>
#include <vector>

#include "db/read/blob_read.h"
#include "db/read/get.h"
#include "db/read/merge_read.h"
#include "util/base/assert.h"

namespace varve {

namespace {

// Number of times that a write yields to earlier ones before it does without folding. Most of those
// are done within microseconds, but one whose thread waits for a processor may take much longer.
constexpr int kYieldsMax = 1000;

// Reads the value that the key has at `sequence`, the whole of an entity.
bool ReadValue(const ReadOptions& options, const SuperVersion& super_version,
               SequenceNumber sequence, const Slice& user_key, PinnableSlice* value,
               ValueForm* form) {
  PointLookup lookup(user_key, sequence, value, &super_version.merger());
  lookup.WantEntity();
  if (!GetFromSuperVersion(options, super_version, &lookup, nullptr).ok()) return false;
  if (lookup.state() == PointLookup::State::kReference) {
    return ReadReference(options, super_version, lookup, value).ok();
  }
  const bool found = lookup.operands() == nullptr
                         ? lookup.state() == PointLookup::State::kFound
                         : MergeForRead(options, super_version, &lookup, value, nullptr).ok();
  *form = lookup.form();
  return found;
}

}  // namespace

ColumnFamily* FoldingResolver::FamilyOf(uint32_t id) {
  if (last_family_ == nullptr || last_family_->id() != id) {
    last_family_ = state_.families.FindById(id);
  }
  return last_family_;
}

// True if merges of the family are replaced by values once there are many of them on one key
// (max_successive_merges).
bool FoldingResolver::FoldsMerges(uint32_t family) {
  const ColumnFamily* const found = FamilyOf(family);
  // A later write may have an older timestamp, and belong below the operand.
  return found != nullptr && found->max_successive_merges() != 0 &&
         found->icmp().timestamp_size() == 0;
}

bool FoldingResolver::AllBeforeAreIn() const {
  // The value below the operand must be final. Writes before this one are in the order already, but
  // their insertion may still run.
  for (int yields = 0; state_.versions->last_sequence() + 1 < first_; yields++) {
    if (yields == kYieldsMax) return false;
    std::this_thread::yield();
  }
  return true;
}

// Reads the value as of just before this operand, from the super-version of now, and merges the
// operand onto it. Returns false, with the outputs undefined, whenever that is not certain to give
// what a read would.
bool FoldingResolver::FoldMerge(uint32_t family, SequenceNumber sequence, const Slice& key,
                                const Slice& operand, std::string* value, ValueForm* form) {
  VARVE_ASSERT(sequence >= first_);
  ColumnFamily* const found = FamilyOf(family);
  const size_t most = found == nullptr ? 0 : found->max_successive_merges();
  // The cheap questions come first. CountMerges stops at `most`, so a long row of operands costs no
  // more than a short one.
  if (most == 0 || !AllBeforeAreIn() || found->mem()->CountMerges(key, sequence - 1, most) < most) {
    return false;
  }
  const ReadGuard super_version(found);
  ReadOptions options;
  // Folding is an optimisation, so it does not read from a device unless the user insists.
  if (!super_version->options().strict_max_successive_merges) options.read_tier = kBlockCacheTier;
  PinnableSlice base;
  *form = ValueForm::kPlain;
  if (!ReadValue(options, *super_version, sequence - 1, key, &base, form)) return false;
  Slice result;
  const std::vector<Slice> operands = {operand};
  if (!super_version->merger().Full(key, &base, operands, value, &result, form).ok()) return false;
  // The operator may have returned one of its inputs instead of a new value. Those are pinned only
  // until the end of this call.
  if (result.data() != value->data()) value->assign(result.data(), result.size());
  return true;
}

}  // namespace varve
