// SPDX-License-Identifier: Apache-2.0
#pragma once

// Indexes the updates of single keys of one column family in a batch, in key order, those of one
// key newest first. The keys are stored in the batch: an entry consists of eight bytes of its key
// and the offset of its record.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "util/coding/varint.h"
#include "util/key/internal_key.h"

namespace varve {

// True if a record of that tag contains its column family.
inline bool RecordNamesFamily(ValueType tag) {
  return tag == kTypeColumnFamilyValue || tag == kTypeColumnFamilyDeletion ||
         tag == kTypeColumnFamilyMerge || tag == kTypeColumnFamilySingleDeletion ||
         tag == kTypeColumnFamilyRangeDeletion;
}

// Returns the key, with its timestamp, of a record that is known to be complete.
inline Slice KeyOfRecord(const char* record) {
  const auto tag = static_cast<ValueType>(*record++);
  if (RecordNamesFamily(tag)) {
    while ((*record & 0x80) != 0) record++;
    record++;
  }
  uint32_t size = 0;
  const char* const key = GetVarint32Ptr(record, record + kMaxVarint32Length, &size);
  return Slice(key, size);
}

// Uses one sorted array while there are few entries, and leaves below a directory later. The eight
// bytes, the key prefix, begin after what all keys had in common when the leaves were last built,
// and decide most comparisons; the others read the key in the batch.
//
// Thread safety: none. Lifetime: the batch's bytes may move, but their string outlives the index.
// Cost: about 16 bytes per entry; a look-up or an insertion is two searches and a move within a
//   leaf; many insertions at once are a sort.
class KeyIndex {
 public:
  // Position of an entry; any change of the index invalidates it.
  struct Place {
    size_t leaf = 0;
    size_t at = 0;
  };
  static constexpr uint32_t kNewest = UINT32_MAX;

  KeyIndex(const std::string* batch, const InternalKeyComparator& icmp)
      : batch_(batch), icmp_(icmp) {}

  // Inserts records, in ascending order, each after all that are there. If it throws, the index may
  // only be cleared.
  void InsertAll(const std::vector<uint32_t>& offsets);
  // Removes a record, which must be the newest of all.
  void Remove(uint32_t offset);
  void Clear() noexcept;
  // Requires that the index is empty.
  void SetComparator(const InternalKeyComparator& icmp) { icmp_ = icmp; }

  [[nodiscard]] const InternalKeyComparator& icmp() const { return icmp_; }
  [[nodiscard]] const std::string& batch() const { return *batch_; }
  [[nodiscard]] size_t size() const { return size_; }

  [[nodiscard]] Place Begin() const { return {}; }
  [[nodiscard]] Place End() const { return {leaves_.size(), 0}; }
  // Returns the first entry that is of a later key, or of this key and no newer than `newest`.
  [[nodiscard]] Place Find(const Slice& key, uint32_t newest = kNewest) const;
  // Returns the first entry of a later key.
  [[nodiscard]] Place FindBehind(const Slice& key) const { return Find(key, 0); }

  [[nodiscard]] bool AtEnd(const Place& place) const { return place.leaf == leaves_.size(); }
  [[nodiscard]] bool AtBegin(const Place& place) const { return place.leaf == 0 && place.at == 0; }
  void Next(Place* place) const;
  // Requires that the place is not Begin().
  void Prev(Place* place) const;
  // OffsetAt and KeyAt require that the place is not End().
  [[nodiscard]] uint32_t OffsetAt(const Place& place) const {
    return leaves_[place.leaf]->offsets[place.at];
  }
  [[nodiscard]] Slice KeyAt(const Place& place) const { return KeyOf(OffsetAt(place)); }

  // Returns the key without timestamp.
  [[nodiscard]] Slice KeyOf(uint32_t offset) const {
    return icmp_.WithoutTimestamp(KeyOfRecord(batch_->data() + offset));
  }

 private:
  static constexpr size_t kLeafEntries = 64;
  // Entries in a leaf after a rebuild, which leaves room for more.
  static constexpr size_t kLeafFill = 48;
  // More insertions than this, and than a quarter of the existing entries, are sorted in together;
  // fewer are made one by one.
  static constexpr size_t kSortMin = 16;
  // An index that has grown by this factor through single insertions is rebuilt.
  static constexpr size_t kGrowth = 8;

  struct Leaf {
    size_t count = 0;
    uint64_t prefixes[kLeafEntries];
    uint32_t offsets[kLeafEntries];
  };
  struct Entry {
    uint64_t prefix;
    uint32_t offset;
  };

  [[nodiscard]] uint64_t PrefixOf(const Slice& key) const;
  [[nodiscard]] bool IsBefore(const Entry& a, const Entry& b) const;
  void Insert(uint32_t offset);
  // Splits a full leaf to make room, and adjusts the place.
  void Split(Place* place);
  // Puts all existing entries and these into new leaves.
  void Rebuild(const std::vector<uint32_t>& added);
  void FindCommonPrefix(const std::vector<Entry>& entries);
  void SetEntries(const std::vector<Entry>& entries);
  static std::unique_ptr<Leaf> NewLeaf();

  const std::string* batch_;
  InternalKeyComparator icmp_;
  std::string common_;  // Omitted from the prefixes.
  size_t size_ = 0;     // Number of entries.
  // Number of entries at which the common bytes are computed again.
  size_t rebuild_at_ = kLeafEntries;
  std::vector<std::unique_ptr<Leaf>> leaves_;  // None is empty.
  std::vector<uint64_t> first_prefixes_;       // First prefix of each leaf.
};

}  // namespace varve
