// SPDX-License-Identifier: Apache-2.0
#pragma once

// BatchReplay repeats the updates of a batch through a transaction.
//
// It serves Transaction::RebuildFromWriteBatch, and the adoption of prepared transactions after a
// crash. Each update goes through the transaction's own call, so that it locks or tracks the key
// just as if the user had made it. Batches name column families by id, and may have keys with
// timestamps, or with room for them; a transaction takes handles, and keys without.

#include <map>
#include <memory>

#include "varve/comparator.h"
#include "varve/utilities/transaction.h"
#include "varve/write_batch.h"

#include "db/transaction/transaction_host.h"
#include "util/base/status_macros.h"
#include "util/key/entity.h"

namespace varve {

// Returns a batch key without its timestamp; a key that is too short for one is returned unchanged.
inline Slice WithoutTimestamp(const Slice& key, const Comparator& comparator) {
  const size_t size = comparator.timestamp_size();
  return key.size() < size ? key : Slice(key.data(), key.size() - size);
}

// Provides handles for column families that a batch identifies by id.
class FamiliesById {
 public:
  explicit FamiliesById(TransactionHost* host) : host_(host) {}

  // Returns the handle, which lives as long as this object, or nullptr if there is no such family.
  ColumnFamilyHandle* Find(uint32_t id) {
    std::unique_ptr<ColumnFamilyHandle>& handle = handles_[id];
    // A family that was not found is looked up anew each time.
    if (handle == nullptr) handle = host_->OpenFamily(id);
    return handle.get();
  }

  // Releases the handles, which keep the files of dropped families.
  void Clear() { handles_.clear(); }

 private:
  TransactionHost* const host_;
  // Handles that were opened so far; null for families that do not exist.
  std::map<uint32_t, std::unique_ptr<ColumnFamilyHandle>> handles_;
};

// Removes the timestamps of keys; the transaction adds its own when it commits.
class BatchReplay final : public WriteBatch::Handler {
 public:
  // Says whether updates of missing families are refused or skipped.
  enum class Missing : uint8_t { kRefuse, kSkip };

  BatchReplay(Transaction* to, FamiliesById* families, Missing missing = Missing::kRefuse)
      : to_(to), families_(families), missing_(missing) {}

  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return In(family, [&](ColumnFamilyHandle* handle) {
      return to_->Put(handle, Bare(handle, key), value);
    });
  }
  // The entity is taken apart, since the transaction encodes the columns itself.
  Status PutEntityCF(uint32_t family, const Slice& key, const Slice& entity) override {
    return In(family, [&](ColumnFamilyHandle* handle) -> Status {
      WideColumns columns;
      VARVE_RETURN_IF_ERROR(DecodeEntity(entity, &columns));
      return to_->PutEntity(handle, Bare(handle, key), columns);
    });
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    return In(family, [&](ColumnFamilyHandle* handle) {
      return to_->Merge(handle, Bare(handle, key), value);
    });
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    return In(family,
              [&](ColumnFamilyHandle* handle) { return to_->Delete(handle, Bare(handle, key)); });
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    return In(family, [&](ColumnFamilyHandle* handle) {
      return to_->SingleDelete(handle, Bare(handle, key));
    });
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    return In(family, [&](ColumnFamilyHandle* handle) {
      return to_->DeleteRange(handle, Bare(handle, begin), Bare(handle, end));
    });
  }
  // Log data has no key and needs no lock.
  void LogData(const Slice& blob) override { to_->PutLogData(blob); }
  // A no-op record has no effect.
  Status MarkNoop(bool /*empty_batch*/) override { return Status::OK(); }

 private:
  // Returns the key without the timestamp that the family's keys have.
  static Slice Bare(ColumnFamilyHandle* handle, const Slice& key) {
    return WithoutTimestamp(key, *handle->GetComparator());
  }
  // Calls `update` with the handle of the family, or deals with a missing one.
  template <typename Update>
  Status In(uint32_t family, Update update) {
    ColumnFamilyHandle* const handle = families_->Find(family);
    // The family was dropped after the transaction was prepared, and its data with it.
    if (handle == nullptr && missing_ == Missing::kSkip) return Status::OK();
    if (handle == nullptr) {
      return Status::InvalidArgument("write batch: there is no such column family");
    }
    return update(handle);
  }

  // Both are borrowed.
  Transaction* const to_;
  FamiliesById* const families_;
  const Missing missing_;
};

}  // namespace varve
