// SPDX-License-Identifier: Apache-2.0
#pragma once

// An input of a compaction that counts the references to blob files which it returns, so that those
// which do not come out again are known as garbage.

#include <cstddef>
#include <memory>
#include <utility>

#include "db/compaction/blob_output.h"
#include "db/compaction/dropped_records.h"
#include "db/compaction/forwarded_input.h"
#include "util/base/assert.h"
#include "util/key/internal_key.h"

namespace varve {

// Refuses to skip entries, which would not be counted. Does not count entries from `end` on, a key
// without timestamp; null: counts all. `dropped`, which may be null, is told of each reference.
//
// Thread safety: none. Lifetime: its arguments must outlive it.
class BlobReferences final : public ForwardedInput {
 public:
  BlobReferences(std::unique_ptr<InternalIterator> input, const InternalKeyComparator* icmp,
                 const Slice* end, BlobTally* tally, DroppedRecords* dropped = nullptr)
      : ForwardedInput(std::move(input)),
        icmp_(icmp),
        end_(end),
        tally_(tally),
        dropped_(dropped) {}

 private:
  // Counts the entry of the only seek. A second seek would count entries again, or leave some out.
  void OnArrival() override {
    VARVE_ASSERT(!begun_);
    begun_ = true;
    if (valid_) Note(key_, value_);
  }
  void OnBatch(const BatchEntry* entries, size_t n) override {
    for (size_t i = 0; i < n; ++i) Note(entries[i].key(), entries[i].value());
  }
  // Bytes that are no reference are left to those who look at the entry.
  void Note(const Slice& key, const Slice& value) {
    if (key.size() < kInternalKeyTrailerBytes || ExtractValueType(key) != kTypeBlobIndex) return;
    if (end_ != nullptr && icmp_->CompareKey(icmp_->KeyOf(key), *end_) >= 0) return;
    BlobReference reference;
    if (!BlobReference::DecodeInDatabase(value, &reference).ok()) return;
    tally_->Add(ExtractUserKey(key), reference);
    if (dropped_ != nullptr) dropped_->Read(ExtractUserKey(key), reference);
  }

  const InternalKeyComparator* const icmp_;
  const Slice* const end_;
  // The caller's; it has the references of all entries before `end` that were returned.
  BlobTally* const tally_;
  DroppedRecords* const dropped_;
  bool begun_ = false;
};

}  // namespace varve
