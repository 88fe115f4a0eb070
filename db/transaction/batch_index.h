// SPDX-License-Identifier: Apache-2.0
#pragma once

// The index of a batch: which of its bytes are indexed, one index for each column family, and how
// it follows additions and rollbacks.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "varve/comparator.h"

#include "db/transaction/batch_ranges.h"
#include "db/transaction/key_index.h"
#include "db/write/batch_reader.h"
#include "util/base/assert.h"

namespace varve {

class ColumnFamilyHandle;

// Records are noted when they are added, and indexed by the first read after that. What is added
// to the batch without a note is not indexed.
//
// Thread safety: none. Lifetime: the batch's string outlives it.
class BatchIndex {
 public:
  struct Family {
    Family(const std::string* batch, const Comparator* comparator)
        : keys(batch, InternalKeyComparator(comparator)),
          ranges(batch, InternalKeyComparator(comparator)) {}
    [[nodiscard]] const InternalKeyComparator& icmp() const { return keys.icmp(); }

    KeyIndex keys;
    BatchRanges ranges;
    std::vector<uint32_t> added;  // on the way into `keys`
  };

  // `backup` orders families without a handle.
  BatchIndex(std::string* batch, const Comparator* backup);

  // --- By the thread that changes the batch.
  // Before an addition of at most so many bytes, timestamps that have not been given apart, in a
  // family of that handle, if there is one: what iterators have shown stays where it is. May throw,
  // and nothing is changed then.
  void BeforeAdding(size_t bytes, ColumnFamilyHandle* column_family);
  // After it: what lies after `from` was added.
  void NoteAdded(size_t from) noexcept;
  // Before the batch is cut back to so many bytes.
  void RollBack(size_t bytes) noexcept;

  // --- By readers.
  // The family, up to date. Its comparator is the handle's, if there is one. May throw.
  Family* Get(ColumnFamilyHandle* column_family);
  // Brings all families up to date. May throw.
  void CatchUp() {
    if (done_ != noted_ || batch_->size() < noted_) [[unlikely]]
      IndexNoted();
  }
  void ForEachFamily(const std::function<void(uint32_t, Family&)>& visit);
  // Raised when places in the index are no longer valid, and when offsets are not either.
  [[nodiscard]] uint64_t changes() const { return changes_; }
  [[nodiscard]] uint64_t rollbacks() const { return rollbacks_; }
  [[nodiscard]] const std::string& batch() const { return *batch_; }

  // Strings that the batch was kept in. While somebody has these, bytes that were shown stay where
  // they are, also after the index and the batch.
  using Outgrown = std::vector<std::string>;
  std::shared_ptr<Outgrown> Pin();

 private:
  // Bytes of the batch, records that were noted.
  struct Stretch {
    size_t from;
    size_t to;
  };

  Family* FindFamily(uint32_t id, const Comparator* comparator);
  void MoveToLarger(size_t bytes);
  void NoteTimestamps(const Comparator* comparator);
  void IndexNoted();
  void IndexFrom(size_t from, size_t to);
  // Everything is indexed again when it is needed.
  void Forget() noexcept;
  void TrimNotes(size_t bytes) noexcept;
  bool TakeOut(size_t from) noexcept;

  std::string* const batch_;
  const Comparator* const backup_;
  std::unordered_map<uint32_t, std::unique_ptr<Family>> families_;
  const ColumnFamilyHandle* last_handle_ = nullptr;  // that was noted; compared only
  uint32_t last_id_ = 0;
  Family* last_family_ = nullptr;
  std::vector<Stretch> notes_;  // ascending, apart
  size_t noted_;                // where the last one ends
  size_t done_;                 // up to there they are indexed
  uint64_t changes_ = 0;
  uint64_t rollbacks_ = 0;
  size_t timestamp_bytes_max_;  // of all families
  std::weak_ptr<Outgrown> outgrown_;
};

}  // namespace varve
