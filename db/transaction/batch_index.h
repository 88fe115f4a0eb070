// SPDX-License-Identifier: Apache-2.0
#pragma once

// The index of a batch: it stores which bytes of the batch are indexed, holds one index for each
// column family, and follows additions and rollbacks.
//
// Indexing is lazy: a transaction that writes and never reads pays for notes only.
//
//      batch   [header][r1][r2][r3][log data][r4][r5]
//      notes_          [----------)          [------)     noted: these bytes are to be indexed
//                      ^          ^ done_: indexed so far
//      families_        family 0: KeyIndex, BatchRanges     family 3: ...
//
// DisableIndexing leaves gaps between the notes. A read (CatchUp) indexes what was noted since the
// last one.
//
// Iterators show slices of the batch. So the string must not move while it grows under them: before
// an addition that does not fit, the batch moves to a larger string, and the old one is kept alive
// by those who show its bytes (Outgrown).

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

// Records are noted when they are added, and indexed by the first read after that. Bytes added to
// the batch without a note are not indexed.
//
// Thread safety: none. Lifetime: the batch's string outlives the index.
class BatchIndex {
 public:
  struct Family {
    Family(const std::string* batch, const Comparator* comparator)
        : keys(batch, InternalKeyComparator(comparator)),
          ranges(batch, InternalKeyComparator(comparator)) {}
    [[nodiscard]] const InternalKeyComparator& icmp() const { return keys.icmp(); }

    // Updates of single keys.
    KeyIndex keys;
    // Range deletions.
    BatchRanges ranges;
    std::vector<uint32_t> added;  // Offsets not inserted into `keys` yet.
  };

  // `backup` orders families without a handle; null: bytewise.
  BatchIndex(std::string* batch, const Comparator* backup);

  // --- Called by the thread that changes the batch.
  // Must be called before an addition of at most `bytes` bytes, not counting timestamps, to the
  // family of that handle (null if there is none). Makes room so that bytes which iterators have
  // shown do not move. May throw, with nothing changed.
  void BeforeAdding(size_t bytes, ColumnFamilyHandle* column_family);
  // Must be called after the addition: notes the bytes that were added behind `from`.
  void NoteAdded(size_t from) noexcept;
  // Must be called before the batch is truncated to `bytes` bytes.
  void RollBack(size_t bytes) noexcept;

  // --- Called by readers.
  // Returns the family, up to date. Its comparator is the handle's, if there is one. May throw.
  Family* Get(ColumnFamilyHandle* column_family);
  // Brings all families up to date. May throw.
  void CatchUp() {
    if (done_ != noted_ || batch_->size() < noted_) [[unlikely]]
      IndexNoted();
  }
  // Calls visit(id, family) for every family, up to date. May throw.
  void ForEachFamily(const std::function<void(uint32_t, Family&)>& visit);
  // Return counters. changes() grows when places in the index become invalid, rollbacks() when
  // offsets of records do, too.
  [[nodiscard]] uint64_t changes() const { return changes_; }
  [[nodiscard]] uint64_t rollbacks() const { return rollbacks_; }
  [[nodiscard]] const std::string& batch() const { return *batch_; }

  // Earlier strings of the batch. While a caller holds them, bytes that were shown stay in place,
  // even after the index and the batch are destroyed.
  using Outgrown = std::vector<std::string>;
  // Returns the list of earlier strings; while it is held, the index keeps those that the batch
  // outgrows.
  std::shared_ptr<Outgrown> Pin();

 private:
  // A range of bytes of the batch whose records were noted.
  struct Stretch {
    size_t from;
    size_t to;
  };

  // Returns the index of a family, making it if needed.
  Family* FindFamily(uint32_t id, const Comparator* comparator);
  // Moves the batch to a string that has room for `bytes` more, if iterators show the present one,
  // which is kept for them. Otherwise the string grows by itself.
  void MoveToLarger(size_t bytes);
  // Remembers the largest timestamp of any family, for the room that additions need.
  void NoteTimestamps(const Comparator* comparator);
  // Indexes what the batch has gained since the last call.
  void IndexNoted();
  // Indexes the records between two offsets of the batch.
  void IndexFrom(size_t from, size_t to);
  // Clears the index; everything is indexed again when needed.
  void Forget() noexcept;
  // Shortens the notes to a batch of `bytes` bytes.
  void TrimNotes(size_t bytes) noexcept;
  // Removes the records from offset `from` on from the indexes. Returns false if there is no memory
  // for that: then everything must be indexed again.
  bool TakeOut(size_t from) noexcept;

  // The bytes of the batch, not owned.
  std::string* const batch_;
  const Comparator* const backup_;
  std::unordered_map<uint32_t, std::unique_ptr<Family>> families_;
  const ColumnFamilyHandle* last_handle_ = nullptr;  // Last noted; only compared.
  uint32_t last_id_ = 0;
  Family* last_family_ = nullptr;
  std::vector<Stretch> notes_;  // Ascending, not adjacent.
  size_t noted_;                // End of the last note.
  size_t done_;                 // Notes are indexed up to here.
  // Counters that tell a cursor that the batch has changed, or was rolled back.
  uint64_t changes_ = 0;
  uint64_t rollbacks_ = 0;
  size_t timestamp_bytes_max_;  // Maximum over all families.
  // Former strings of the batch, which iterators keep alive.
  std::weak_ptr<Outgrown> outgrown_;
};

}  // namespace varve
