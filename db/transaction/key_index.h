// SPDX-License-Identifier: Apache-2.0
#pragma once

// The updates of single keys of one column family in a batch, in the order of keys, those of one
// key newest first. The batch's bytes are the keys: an entry is eight bytes of its key and the
// offset of its record.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "util/coding/varint.h"
#include "util/key/internal_key.h"

namespace varve {

// Whether a record of that tag names its column family.
inline bool RecordNamesFamily(ValueType tag) {
  return tag == kTypeColumnFamilyValue || tag == kTypeColumnFamilyDeletion ||
         tag == kTypeColumnFamilyMerge || tag == kTypeColumnFamilySingleDeletion ||
         tag == kTypeColumnFamilyRangeDeletion;
}

// The key of a record that is known to be whole, with its timestamp.
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

// One sorted array while there are few entries, leaves with a directory above them later. The eight
// bytes, the key prefix, are taken after what all keys had in common when the leaves were last
// built, and decide most comparisons; the others look into the batch.
//
// Thread safety: none. Lifetime: the batch's bytes may move, their string outlives the index.
// Cost: 12 bytes an entry, and a third more; a look-up or an insertion is two searches and a move
//   within a leaf; many insertions at once are a sort.
class KeyIndex {
 public:
  // Where an entry is; invalid after any change of the index.
  struct Place {
    size_t leaf = 0;
    size_t at = 0;
  };
  static constexpr uint32_t kNewest = UINT32_MAX;

  KeyIndex(const std::string* batch, const InternalKeyComparator& icmp)
      : batch_(batch), icmp_(icmp) {}

  // Records of the batch, in ascending order, each after all that are there. When it throws, the
  // index is good for nothing but Clear().
  void InsertAll(const std::vector<uint32_t>& offsets);
  // The newest record of all that are there.
  void Remove(uint32_t offset);
  void Clear() noexcept;
  // Of an empty index.
  void SetComparator(const InternalKeyComparator& icmp) { icmp_ = icmp; }

  [[nodiscard]] const InternalKeyComparator& icmp() const { return icmp_; }
  [[nodiscard]] const std::string& batch() const { return *batch_; }
  [[nodiscard]] size_t size() const { return size_; }

  [[nodiscard]] Place Begin() const { return {}; }
  [[nodiscard]] Place End() const { return {leaves_.size(), 0}; }
  // The first entry of a later key, or of this one and no newer than `newest`.
  [[nodiscard]] Place Find(const Slice& key, uint32_t newest = kNewest) const;
  // The first entry of a later key.
  [[nodiscard]] Place FindBehind(const Slice& key) const { return Find(key, 0); }

  [[nodiscard]] bool AtEnd(const Place& place) const { return place.leaf == leaves_.size(); }
  [[nodiscard]] bool AtBegin(const Place& place) const { return place.leaf == 0 && place.at == 0; }
  void Next(Place* place) const;
  // Requires that the place is not Begin().
  void Prev(Place* place) const;
  // These require that the place is not End().
  [[nodiscard]] uint32_t OffsetAt(const Place& place) const {
    return leaves_[place.leaf]->offsets[place.at];
  }
  [[nodiscard]] Slice KeyAt(const Place& place) const { return KeyOf(OffsetAt(place)); }

  // Without timestamp.
  [[nodiscard]] Slice KeyOf(uint32_t offset) const {
    return icmp_.WithoutTimestamp(KeyOfRecord(batch_->data() + offset));
  }

 private:
  static constexpr size_t kLeafEntries = 64;
  // Leaves that are built at once have room for more.
  static constexpr size_t kLeafFill = 48;
  // More than these, and a quarter of what is there, are sorted; fewer go in one by one.
  static constexpr size_t kSortMin = 16;
  // An index that has grown by so much one by one is built anew.
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
  // Makes room in a full leaf; the place goes along.
  void Split(Place* place);
  // All entries that there are, and these, in new leaves.
  void Rebuild(const std::vector<uint32_t>& added);
  void FindCommonPrefix(const std::vector<Entry>& entries);
  void SetEntries(const std::vector<Entry>& entries);
  static std::unique_ptr<Leaf> NewLeaf();

  const std::string* batch_;
  InternalKeyComparator icmp_;
  std::string common_;  // what prefixes leave out
  size_t size_ = 0;     // entries
  // With so many entries what keys have in common is looked at again.
  size_t rebuild_at_ = kLeafEntries;
  std::vector<std::unique_ptr<Leaf>> leaves_;  // none is empty
  std::vector<uint64_t> first_prefixes_;       // of each leaf
};

}  // namespace varve
