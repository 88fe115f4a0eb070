// SPDX-License-Identifier: Apache-2.0

// Operations that only read. With the keys' locks held the answer is known exactly. Without them it
// must be a state between the one read before and the one read after.

#include <algorithm>
#include <array>

#include "tools/db_stress/worker.h"

namespace varve::stress {

// Without locks the key may change during the read. `before` was read before the call and `after`
// when it had returned, so that the answer lies between before.Settled() and after.After(). Nothing
// may be found if the key did not exist at either end, counting pending changes, or if the base has
// moved: a deletion may lie between.
void Worker::JudgeBetween(const char* how, const KeyId& key, const KeyState& before,
                          const KeyState& after, const Status& status, const Slice& value) {
  expected().counts().checks++;
  if (status.IsNotFound()) {
    const bool may_be_gone = !before.exists() || !before.After().exists() || !after.exists() ||
                             !after.After().exists() || after.base != before.base;
    if (!may_be_gone)
      database_->Wrong(std::string(how) + " found nothing: " + Describe(key, before));
    return;
  }
  if (!status.ok()) return database_->Wrong(std::string(how) + ": " + status.ToString());
  const std::optional<KeyState> found = StateOf(key, value);
  if (!found.has_value()) {
    return database_->Wrong(std::string(how) + ": no value of this key: " + Describe(key, before) +
                            ": " + std::to_string(value.size()) + " bytes, " +
                            Slice(value.data(), std::min<size_t>(value.size(), 64)).ToString(true));
  }
  if (before.Settled().NotAfter(*found) && found->NotAfter(after.After())) return;
  database_->Wrong(std::string(how) + ": base " + std::to_string(found->base) + " merges " +
                   std::to_string(found->merges) + " is of another time: " + Describe(key, before) +
                   ", then " + Describe(key, after));
}

void Worker::ExpectState(const char* how, const KeyId& key, const KeyState& state,
                         const Status& status, const Slice& value) {
  expected().counts().checks++;
  if (!state.exists() && status.IsNotFound()) return;
  if (state.exists() && status.ok() && value == Slice(WholeValue(key, state))) return;
  database_->Wrong(std::string(how) + ": " + status.ToString() + ": " + Describe(key, state));
}

// An entity has its key in a second column, whatever was merged into the default one.
void Worker::GetEntity() {
  const KeyId key = RandomKey();
  const std::string bytes = KeyBytes(key.number);
  const KeyLocks::Held held = database_->locks().Lock(key);
  PinnableWideColumns entity;
  const Status s = db()->GetEntity(database_->Now(), handle(key.family), bytes, &entity);
  const WideColumns& columns = entity.columns();
  ExpectExactly("GetEntity", key, s, columns.empty() ? Slice() : columns.front().value());
  if (!s.ok() || columns.size() == 1) return;
  if (columns.size() == 2 && columns.back() == WideColumn("key", bytes)) return;
  database_->Wrong("GetEntity: other columns: " + Describe(key, expected().Get(key)));
}

void Worker::Get() {
  if (!Database::has_lifetimes() && dice_.OneIn(6)) return GetEntity();
  const KeyId key = RandomKey();
  PinnableSlice value;
  if (dice_.OneIn(3)) {
    const KeyLocks::Held held = database_->locks().Lock(key);
    const Status s = db()->Get(database_->Now(), handle(key.family), KeyBytes(key.number), &value);
    return ExpectExactly("Get", key, s, value);
  }
  const KeyState before = expected().Get(key);
  const Status s = db()->Get(database_->Now(), handle(key.family), KeyBytes(key.number), &value);
  Judge("Get", key, before, s, value);
}

void Worker::GetOperands() {
  const KeyId key = RandomKey();
  const KeyLocks::Held held = database_->locks().Lock(key);
  std::array<PinnableSlice, kMergesMost + 1> operands;
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = static_cast<int>(operands.size());
  int count = 0;
  const Status s = db()->GetMergeOperands(database_->Now(), handle(key.family),
                                          KeyBytes(key.number), operands.data(), &options, &count);
  std::string whole;
  for (int i = 0; i < count && s.ok(); i++) whole += operands[static_cast<size_t>(i)].ToString();
  ExpectExactly("GetMergeOperands", key, s, whole);
}

void Worker::MultiGet() {
  const uint32_t family = RandomFamily();
  std::vector<KeyId> keys(1 + dice_.Below(24));
  std::vector<std::string> bytes;
  std::vector<KeyState> before;
  for (KeyId& key : keys) {
    key = {family, RandomKey().number};
    bytes.push_back(KeyBytes(key.number));
    before.push_back(expected().Get(key));
  }
  const std::vector<Slice> slices(bytes.begin(), bytes.end());
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  ReadOptions read = database_->Now();
  const Snapshot* const snapshot = dice_.OneIn(2) ? db()->GetSnapshot() : nullptr;
  read.snapshot = snapshot;
  db()->MultiGet(read, handle(family), keys.size(), slices.data(), values.data(), statuses.data());
  for (size_t i = 0; i < keys.size(); i++) {
    Judge(snapshot == nullptr ? "MultiGet" : "MultiGet at a snapshot", keys[i], before[i],
          statuses[i], values[i]);
    // Two reads at one snapshot must agree, whatever was written in between.
    if (snapshot == nullptr || i % 4 != 0) continue;
    std::string again;
    const Status s = db()->Get(read, handle(family), slices[i], &again);
    if (s.code() != statuses[i].code() || (s.ok() && Slice(again) != values[i])) {
      database_->Wrong("Get and MultiGet at one snapshot differ: " + Describe(keys[i], before[i]));
    }
  }
  if (snapshot != nullptr) db()->ReleaseSnapshot(snapshot);
}

// Checks every key of [first, last]. Requires that their locks are held.
void Worker::CheckLockedScan(Iterator* it, uint32_t family, uint64_t first, uint64_t last,
                             bool forward) {
  for (uint64_t i = 0; i <= last - first; i++) {
    const KeyId key{family, forward ? first + i : last - i};
    const KeyState state = expected().Get(key);
    const std::string bytes = KeyBytes(key.number);
    const bool there = it->Valid() && it->key() == Slice(bytes);
    if (there != state.exists()) {
      return database_->Wrong("a scan: " + it->status().ToString() + ": " + Describe(key, state));
    }
    if (!there) continue;
    ExpectExactly("a scan", key, Status::OK(), it->value());
    forward ? it->Next() : it->Prev();
  }
  if (it->Valid() || !it->status().ok()) {
    database_->Wrong("a scan leaves its bounds: " + it->status().ToString());
  }
}

void Worker::Scan() {
  const KeyId from = RandomKey();
  const uint64_t last = std::min(from.number + dice_.Below(30), expected().keys() - 1);
  const std::string lower = KeyBytes(from.number);
  const std::string upper = KeyBytes(last + 1);
  const Slice lower_slice(lower);
  const Slice upper_slice(upper);
  ReadOptions read = database_->Now();
  read.total_order_seek = true;
  read.iterate_lower_bound = &lower_slice;
  read.iterate_upper_bound = &upper_slice;
  const KeyLocks::Held held = database_->locks().LockRange(from.family, from.number, last);
  const std::unique_ptr<Iterator> it(db()->NewIterator(read, handle(from.family)));
  if (dice_.OneIn(2)) {
    dice_.OneIn(2) ? it->SeekToFirst() : it->Seek(lower);
    CheckLockedScan(it.get(), from.family, from.number, last, true);
  } else {
    dice_.OneIn(2) ? it->SeekToLast() : it->SeekForPrev(KeyBytes(last));
    CheckLockedScan(it.get(), from.family, from.number, last, false);
  }
}

// Scans the keys that share seven bytes, without locks.
void Worker::ScanPrefix() {
  const KeyId from = RandomKey();
  // Keys begin with a big-endian number, so that the first seven bytes are shared by 256
  // neighbours. The prefix extractor, if one is drawn, takes those seven.
  const uint64_t first = from.number / 256 * 256;
  const uint64_t end = std::min(first + 256, expected().keys());
  std::vector<KeyState> before;
  for (uint64_t n = first; n < end; n++) before.push_back(expected().Get({from.family, n}));
  ReadOptions read = database_->Now();
  read.prefix_same_as_start = true;
  const bool extracts = database_->options().family.prefix_extractor != nullptr;
  const std::string upper = KeyBytes(end);
  const Slice upper_slice(upper);
  // Without an extractor nothing ends the scan at the prefix.
  if (!extracts) read.iterate_upper_bound = &upper_slice;
  const std::unique_ptr<Iterator> it(db()->NewIterator(read, handle(from.family)));
  uint64_t next = from.number;
  for (it->Seek(KeyBytes(from.number)); it->Valid(); it->Next()) {
    const std::optional<uint64_t> number = NumberOf(it->key());
    if (!number.has_value() || *number < next || *number >= end) {
      return database_->Wrong("a scan of a prefix shows " + it->key().ToString(true));
    }
    for (; next < *number; next++) {
      Judge("a scan of a prefix", {from.family, next}, before[next - first], Status::NotFound(),
            Slice());
    }
    Judge("a scan of a prefix", {from.family, next}, before[next - first], Status::OK(),
          it->value());
    next++;
  }
  if (!it->status().ok()) database_->Wrong("a scan of a prefix: " + it->status().ToString());
  for (; next < end; next++) {
    Judge("a scan of a prefix", {from.family, next}, before[next - first], Status::NotFound(),
          Slice());
  }
}

}  // namespace varve::stress
