// SPDX-License-Identifier: Apache-2.0
#pragma once

// KeyIndex indexes the updates of single keys of one column family in a batch, in key order, those
// of one key newest first. The keys are stored in the batch: an entry consists of eight bytes of
// its key and the offset of its record.
//
//      directory   first_prefixes_ [ ab.. | cd.. | kx.. ]
//                                     |      |      |
//      leaves_     prefixes  [ab ab b0 ..] [cd cf ..] [kx ..]      up to 64 entries each
//                  offsets   [97 12 40 ..] [..      ] [..   ]
//                              |   '- older record of the same key: a smaller offset
//      batch       ...[record]...[record]...[record]...
//
// A record's offset is also its age: updates are appended, so of two records of one key the one
// with the larger offset is the newer. That is why no sequence number is stored.
//
// Invariants
// 1. Entries ascend by key, and within a key descend by offset, across all leaves.
// 2. No leaf is empty, and first_prefixes_[i] is the first prefix of leaf i.
// 3. Prefixes order entries as keys do, or are equal. They are computed after the bytes in common_;
//    a key without these bytes gets the least or the largest prefix.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "util/coding/varint.h"
#include "util/key/internal_key.h"

namespace varve {

// True if a record with this tag has the id of its column family; others are of the default one.
inline bool RecordNamesFamily(ValueType tag) {
  return tag == kTypeColumnFamilyValue || tag == kTypeColumnFamilyDeletion ||
         tag == kTypeColumnFamilyMerge || tag == kTypeColumnFamilySingleDeletion ||
         tag == kTypeColumnFamilyRangeDeletion || tag == kTypeColumnFamilyWideColumnEntity;
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
  // Removes all entries, for a batch that was cleared or rolled back.
  void Clear() noexcept;
  // Requires that the index is empty.
  void SetComparator(const InternalKeyComparator& icmp) { icmp_ = icmp; }

  [[nodiscard]] const InternalKeyComparator& icmp() const { return icmp_; }
  [[nodiscard]] const std::string& batch() const { return *batch_; }
  [[nodiscard]] size_t size() const { return size_; }

  // Returns the place of the first entry, which is End() if there is none.
  [[nodiscard]] Place Begin() const { return {}; }
  [[nodiscard]] Place End() const { return {leaves_.size(), 0}; }
  // Returns the first entry that is of a later key, or of this key and no newer than `newest`, an
  // offset. Keys are given without timestamps.
  [[nodiscard]] Place Find(const Slice& key, uint32_t newest = kNewest) const;
  // Returns the first entry of a later key.
  [[nodiscard]] Place FindBehind(const Slice& key) const { return Find(key, 0); }

  [[nodiscard]] bool AtEnd(const Place& place) const { return place.leaf == leaves_.size(); }
  [[nodiscard]] bool AtBegin(const Place& place) const { return place.leaf == 0 && place.at == 0; }
  // Moves to the next entry. Requires that the place is not End().
  void Next(Place* place) const;
  // Moves to the previous entry. Requires that the place is not Begin().
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
  // Entries of a leaf: a binary search of a few cache lines.
  static constexpr size_t kLeafEntries = 64;
  // Entries in a leaf after a rebuild, which leaves room for more.
  static constexpr size_t kLeafFill = 48;
  // More insertions than this, and than a quarter of the existing entries, are sorted in together;
  // fewer are made one by one.
  static constexpr size_t kSortMin = 16;
  // An index that has grown by this factor through single insertions is rebuilt.
  static constexpr size_t kGrowth = 8;

  // Sorted entries: prefixes of the keys, and where their records lie in the batch.
  struct Leaf {
    size_t count = 0;
    uint64_t prefixes[kLeafEntries];
    uint32_t offsets[kLeafEntries];
  };
  // A key as it is compared: by its prefix, and in full if prefixes are equal.
  struct Entry {
    uint64_t prefix;
    uint32_t offset;
  };

  // Returns the number by which the key is compared first; 0 for all keys if the comparator's order
  // is not that of bytes.
  [[nodiscard]] uint64_t PrefixOf(const Slice& key) const;
  // True if `a` comes before `b` in the order of the index.
  [[nodiscard]] bool IsBefore(const Entry& a, const Entry& b) const;
  // Inserts the record at this offset, which is newer than all others of its key.
  void Insert(uint32_t offset);
  // Splits a full leaf to make room, and adjusts the place.
  void Split(Place* place);
  // Puts all existing entries and the added records into new leaves, with a new common prefix.
  void Rebuild(const std::vector<uint32_t>& added);
  // Sets common_ to the bytes that all these keys begin with, and rebuild_at_.
  void FindCommonPrefix(const std::vector<Entry>& entries);
  // Replaces all leaves by new ones with these entries. Throws std::bad_alloc, with nothing
  // changed.
  void SetEntries(const std::vector<Entry>& entries);
  // Returns a leaf whose arrays are not initialised.
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
