// SPDX-License-Identifier: Apache-2.0

// Walks along the grandparents' borders.

#include "db/compaction/output_splitter.h"

#include "util/base/assert.h"

namespace varve {

OutputSplitter::OutputSplitter(const InternalKeyComparator* icmp,
                               const std::vector<FileRef>* grandparents, uint64_t target_file_bytes,
                               uint64_t max_overlap_bytes, SstPartitioner* partitioner,
                               uint64_t border_bytes)
    : icmp_(icmp),
      grandparents_(*grandparents),
      target_file_bytes_(target_file_bytes),
      max_overlap_bytes_(max_overlap_bytes),
      border_bytes_(border_bytes != 0 ? border_bytes : target_file_bytes - target_file_bytes / 4),
      partitioner_(partitioner) {
  SetBoundary();
}

void OutputSplitter::SetBoundary() {
  has_boundary_ = next_ < grandparents_.size();
  if (has_boundary_) boundary_ = icmp_->KeyOf(grandparents_[next_]->largest);
}

void OutputSplitter::PassBoundaries(const Slice& key) {
  VARVE_ASSERT(has_boundary_ && next_ < grandparents_.size());
  do {
    passed_bytes_ += grandparents_[next_]->size;
    next_++;
    SetBoundary();
  } while (has_boundary_ && icmp_->CompareKey(key, boundary_) > 0);
}

// Bytes of grandparents that were passed count for the file that is open: each output should
// overlap few of them, as its own compaction will have to rewrite those.
void OutputSplitter::StartFile(const Slice& key) {
  if (has_boundary_ && icmp_->CompareKey(key, boundary_) > 0) PassBoundaries(key);
  passed_bytes_ = 0;
  if (partitioner_ != nullptr) last_key_.assign(key.data(), key.size());
}

bool OutputSplitter::EndsPartition(const Slice& key, uint64_t open_bytes) {
  const Slice last(last_key_);
  const PartitionerRequest request(last, key, open_bytes);
  const bool ends = partitioner_->ShouldPartition(request) == kRequired;
  last_key_.assign(key.data(), key.size());
  return ends;
}

}  // namespace varve
