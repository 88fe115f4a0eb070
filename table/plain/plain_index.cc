// SPDX-License-Identifier: Apache-2.0
#include "table/plain/plain_index.h"

namespace varve {

void PlainIndex::Add(const Slice& internal_key, size_t shared_bytes, uint64_t offset) {
  VARVE_ASSERT(shared_bytes + kInternalKeyTrailerBytes <= internal_key.size());
  keys_.append(internal_key.data(), internal_key.size());
  rows_.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(keys_.size()),
                   static_cast<uint32_t>(shared_bytes)});
}

void PlainIndex::Finish(const InternalKeyComparator& icmp, uint64_t data_end) {
  data_end_ = data_end;
  rows_.shrink_to_fit();
  keys_.shrink_to_fit();
  if (!BytesDecide(icmp.order())) return;
  words_.Build(size(), IsReverse(icmp.order()),
               [this](size_t i) { return ExtractUserKey(first_key(i)); });
}

// The words narrow the range down by user keys alone; rows of one user key have equal words, and
// are told apart by whole internal keys.
size_t PlainIndex::Find(const InternalKeyComparator& icmp, const Slice& internal_key) const {
  VARVE_ASSERT(size() > 0);
  SeparatorPrefixes::Range range{0, size()};
  if (words_.built()) range = words_.Find(ExtractUserKey(internal_key));
  while (range.begin < range.end) {
    const size_t middle = range.begin + (range.end - range.begin) / 2;
    if (icmp.Compare(first_key(middle), internal_key) <= 0) {
      range.begin = middle + 1;
    } else {
      range.end = middle;
    }
  }
  return range.begin == 0 ? 0 : range.begin - 1;
}

size_t PlainIndex::MemoryUsage() const {
  return rows_.capacity() * sizeof(Row) + keys_.capacity() + words_.MemoryUsage();
}

}  // namespace varve
