// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a cache for tests of what charges one.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "varve/cache.h"

#include "util/mem/cache_charge.h"

namespace varve::test {

// Placeholders stand for so many bytes each.
inline constexpr size_t kStep = CacheCharge::kStepBytes;

// Holds placeholders only: refuses what is beyond its capacity, counts by role, and expects that
// all are gone at its end.
class CountingCache final : public Cache {
 public:
  explicit CountingCache(size_t capacity = SIZE_MAX) : capacity_(capacity) {}
  ~CountingCache() override { EXPECT_EQ(usage_, 0u) << "placeholders were left behind"; }

  const char* Name() const override { return "CountingCache"; }
  Status Insert(const Slice& key, ObjectPtr, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority) override {
    if (usage_ + charge > capacity_) return Status::MemoryLimit("full");
    auto* const entry = new Entry{{}, key.ToString(), charge, helper->role};
    EXPECT_TRUE(entries_.emplace(entry->key, entry).second) << "keys must not repeat";
    usage_ += charge;
    by_role_[helper->role] += charge;
    *handle = entry;
    return Status::OK();
  }
  bool Release(Handle* handle, bool erase_if_last_ref) override {
    EXPECT_TRUE(erase_if_last_ref) << "a placeholder left behind would waste the cache";
    auto* const entry = static_cast<Entry*>(handle);
    usage_ -= entry->charge;
    by_role_[entry->role] -= entry->charge;
    entries_.erase(entry->key);
    delete entry;
    return true;
  }
  Handle* Lookup(const Slice&) override { return nullptr; }
  bool Ref(Handle*) override { return false; }
  ObjectPtr Value(Handle*) override { return nullptr; }
  size_t GetCharge(Handle* handle) const override { return static_cast<Entry*>(handle)->charge; }
  void Erase(const Slice&) override {}
  uint64_t NewId() override { return ++last_id_; }
  void SetCapacity(size_t capacity) override { capacity_ = capacity; }
  void SetStrictCapacityLimit(bool) override {}
  bool HasStrictCapacityLimit() const override { return true; }
  size_t GetCapacity() const override { return capacity_; }
  size_t GetUsage() const override { return usage_; }
  size_t GetUsage(Handle* handle) const override { return GetCharge(handle); }
  size_t GetPinnedUsage() const override { return usage_; }
  void EraseUnRefEntries() override {}
  void ApplyToAllEntries(
      const std::function<void(const Slice&, ObjectPtr, size_t, const CacheItemHelper*)>&,
      const ApplyToAllEntriesOptions&) override {}

  size_t of(CacheEntryRole role) { return by_role_[role]; }

 private:
  struct Entry : Handle {
    Entry(Handle base, std::string k, size_t c, CacheEntryRole r)
        : Handle(base), key(std::move(k)), charge(c), role(r) {}
    std::string key;
    size_t charge;
    CacheEntryRole role;
  };

  size_t capacity_;
  size_t usage_ = 0;
  uint64_t last_id_ = 0;
  std::map<std::string, Entry*> entries_;
  std::map<CacheEntryRole, size_t> by_role_;
};

}  // namespace varve::test
