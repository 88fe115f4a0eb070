// SPDX-License-Identifier: Apache-2.0

// Operations that change something: the expected state marks the change as pending before it
// begins, and as done once it is acknowledged.

#include <algorithm>

#include "varve/comparator.h"

#include "tools/db_stress/flags.h"
#include "tools/db_stress/worker.h"
#include "util/coding/fixed.h"

namespace varve::stress {

namespace {

constexpr uint64_t kRangeMost = 12;  // keys of a range deletion

}  // namespace

std::string Worker::NextTimestamp() {
  std::string bytes;
  PutFixed64(&bytes, expected().NextTimestamp());
  return bytes;
}

// Such keys are put once and then deleted by SingleDelete, which requires exactly that of its keys.
bool Worker::IsNeverOverwritten(uint64_t number) const {
  // These keys are the last ones, so that range deletions can avoid them.
  const uint64_t keys = database_->expected().keys();
  return number >= keys - keys * static_cast<uint64_t>(FLAGS_nooverwritepercent) / 100;
}

void Worker::Apply(const KeyId& key, Change change, const WriteOptions& options,
                   const PlainWrite& write, const AddToTransaction& add) {
  const KeyState before = expected().Get(key);
  const KeyState after = before.With(change).After();
  expected().Set(key, before.With(change));
  bool changed = true;
  const Status s = database_->has_transactions()
                       ? Transact(key, before, after, options, add, &changed)
                       : write(after);
  // The change stays pending: a write that failed may have taken effect or not.
  if (!s.ok()) return database_->Wrong("a write: " + s.ToString() + ": " + Describe(key, before));
  expected().Set(key, changed ? after : before);
}

void Worker::Put() {
  const KeyId key = RandomKey();
  const KeyLocks::Held held = database_->locks().Lock(key);
  PutLocked(key);
}

void Worker::PutLocked(const KeyId& key) {
  if (IsNeverOverwritten(key.number) && expected().Get(key).exists()) return;
  const WriteOptions write = database_->options().DrawWriteOptions(key.number, &dice_);
  ColumnFamilyHandle* const family = handle(key.family);
  const std::string bytes = KeyBytes(key.number);
  const bool entity = FLAGS_use_put_entity_one_in > 0 && !Database::stamped() &&
                      !Database::has_lifetimes() &&
                      dice_.OneIn(static_cast<uint64_t>(FLAGS_use_put_entity_one_in));
  Apply(
      key, Change::kPut, write,
      [&](const KeyState& after) {
        const std::string value = BaseValue(key, after.base);
        if (entity) return db()->PutEntity(write, family, bytes, {{"key", bytes}, {"", value}});
        if (!Database::stamped()) return db()->Put(write, family, bytes, value);
        return db()->Put(write, family, bytes, NextTimestamp(), value);
      },
      [&](Transaction* txn, const KeyState& after) {
        const std::string value = BaseValue(key, after.base);
        return entity ? txn->PutEntity(family, bytes, {{"key", bytes}, {"", value}})
                      : txn->Put(family, bytes, value);
      });
}

void Worker::Merge() {
  const KeyId key = RandomKey();
  const KeyLocks::Held held = database_->locks().Lock(key);
  if (IsNeverOverwritten(key.number) || expected().Get(key).merges >= kMergesMost) return;
  const WriteOptions write = database_->options().DrawWriteOptions(key.number, &dice_);
  ColumnFamilyHandle* const family = handle(key.family);
  const std::string bytes = KeyBytes(key.number);
  const auto operand = [&](const KeyState& after) {
    return OperandValue(key, after.base, static_cast<uint8_t>(after.merges - 1));
  };
  Apply(
      key, Change::kMerge, write,
      [&](const KeyState& after) {
        if (!Database::stamped()) return db()->Merge(write, family, bytes, operand(after));
        return db()->Merge(write, family, bytes, NextTimestamp(), operand(after));
      },
      [&](Transaction* txn, const KeyState& after) {
        return txn->Merge(family, bytes, operand(after));
      });
}

void Worker::Delete() {
  const KeyId key = RandomKey();
  const KeyLocks::Held held = database_->locks().Lock(key);
  const bool single = IsNeverOverwritten(key.number);
  if (single && !expected().Get(key).exists()) return;
  const WriteOptions write = database_->options().DrawWriteOptions(key.number, &dice_);
  ColumnFamilyHandle* const family = handle(key.family);
  const std::string bytes = KeyBytes(key.number);
  Apply(
      key, Change::kDelete, write,
      [&](const KeyState&) {
        if (!Database::stamped()) {
          return single ? db()->SingleDelete(write, family, bytes)
                        : db()->Delete(write, family, bytes);
        }
        return single ? db()->SingleDelete(write, family, bytes, NextTimestamp())
                      : db()->Delete(write, family, bytes, NextTimestamp());
      },
      [&](Transaction* txn, const KeyState&) {
        return single ? txn->SingleDelete(family, bytes) : txn->Delete(family, bytes);
      });
}

// All keys of the range become pending before the call and are settled one by one after it. The
// worker holds the locks of all of them meanwhile, so that no other change of these keys comes in
// between.
void Worker::DeleteRange() {
  if (!database_->options().takes_ranges) return Delete();
  const KeyId first = RandomKey();
  uint64_t end = std::min(first.number + 1 + dice_.Below(kRangeMost), expected().keys());
  while (end > first.number && IsNeverOverwritten(end - 1)) end--;
  if (end == first.number) return;
  const KeyLocks::Held held = database_->locks().LockRange(first.family, first.number, end - 1);
  std::vector<KeyState> before;
  for (uint64_t n = first.number; n < end; n++) {
    before.push_back(expected().Get({first.family, n}));
    expected().Set({first.family, n}, before.back().With(Change::kDelete));
  }
  const WriteOptions write = database_->options().DrawWideWriteOptions(&dice_);
  ColumnFamilyHandle* const family = handle(first.family);
  const std::string begin_key = KeyBytes(first.number);
  const std::string end_key = KeyBytes(end);
  const Status s = Database::stamped()
                       ? db()->DeleteRange(write, family, begin_key, end_key, NextTimestamp())
                       : db()->DeleteRange(write, family, begin_key, end_key);
  if (!s.ok()) return database_->Wrong("DeleteRange: " + s.ToString());
  for (uint64_t n = first.number; n < end; n++) {
    expected().Set({first.family, n}, before[n - first.number].With(Change::kDelete).After());
  }
}

void Worker::TemporaryFamily() {
  const std::string name =
      "temporary-" + std::to_string(id_) + "-" + std::to_string(temporaries_++);
  ColumnFamilyOptions options = database_->options().family;
  // Its keys have no timestamps, whatever those of the other families have.
  options.comparator = BytewiseComparator();
  options.persist_user_defined_timestamps = true;
  ColumnFamilyHandle* family = nullptr;
  Status s = db()->CreateColumnFamily(options, name, &family);
  if (!s.ok()) return database_->Wrong("CreateColumnFamily: " + s.ToString());
  for (int i = 0; i < 20 && s.ok(); i++) {
    s = db()->Put(WriteOptions(), family, "key" + std::to_string(i), name);
  }
  std::string value;
  if (s.ok()) s = db()->Get(ReadOptions(), family, "key7", &value);
  if (!s.ok() || value != name) database_->Wrong("a new family: " + s.ToString());
  s = db()->DropColumnFamily(family);
  if (!s.ok()) database_->Wrong("DropColumnFamily: " + s.ToString());
  // A handle stays usable until it is released, even after the family was dropped.
  s = db()->Get(ReadOptions(), family, "key8", &value);
  if (!s.ok() || value != name) database_->Wrong("a dropped family: " + s.ToString());
  s = db()->DestroyColumnFamilyHandle(family);
  if (!s.ok()) database_->Wrong("DestroyColumnFamilyHandle: " + s.ToString());
}

}  // namespace varve::stress
