// SPDX-License-Identifier: Apache-2.0

// Chooses separators between data blocks, and builds the blocks that hold them.

#include "table/index/index_builder.h"

#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {
namespace {

// Type of shortened separators. It is never compared with an entry's type, since no entry has their
// user key. It is the largest type that every reader of the format knows.
constexpr ValueType kSeparatorType = kTypeWideColumnEntity;

}  // namespace

void IndexBuilder::AddFirstKey(const Slice& first_internal_key) {
  if (options_.type != BlockBasedTableOptions::kBinarySearchWithFirstKey) return;
  first_keys_.append(first_internal_key.data(), first_internal_key.size());
  first_key_ends_.push_back(first_keys_.size());
}

// Three cases: one user key lies on both sides (the last internal key itself separates, and the
// whole index needs trailers), there is a shorter key in between, or none.
void IndexBuilder::AddSeparator(const Slice& last_internal_key, const Slice* next_internal_key) {
  using Mode = BlockBasedTableOptions::IndexShorteningMode;
  const Comparator* const comparator = options_.icmp->user_comparator();
  const Slice last_user_key = ExtractUserKey(last_internal_key);
  bool shorten = false;
  Slice next_user_key;
  if (next_internal_key != nullptr) {
    next_user_key = ExtractUserKey(*next_internal_key);
    if (options_.icmp->CompareUserKey(last_user_key, next_user_key) == 0) {
      needs_internal_keys_ = true;
    } else if (options_.shortening != Mode::kNoShortening) {
      shorten = true;
      scratch_.assign(last_user_key.data(), last_user_key.size());
      comparator->FindShortestSeparator(&scratch_, next_user_key);
    }
  } else if (options_.shortening == Mode::kShortenSeparatorsAndSuccessor) {
    shorten = true;
    scratch_.assign(last_user_key.data(), last_user_key.size());
    comparator->FindShortSuccessor(&scratch_);
  }

  // A key that the comparator did not change, or made longer, keeps its own sequence number and
  // type. So does a key that a faulty comparator moved beyond the next one, which would mislead
  // reads.
  if (shorten && scratch_.size() <= last_user_key.size() &&
      options_.icmp->CompareUserKey(last_user_key, Slice(scratch_)) < 0 &&
      (next_internal_key == nullptr ||
       options_.icmp->CompareUserKey(Slice(scratch_), next_user_key) < 0)) {
    AppendInternalKey(&separators_, Slice(scratch_), kMaxSequenceNumber, kSeparatorType);
  } else {
    separators_.append(last_internal_key.data(), last_internal_key.size());
  }
  separator_ends_.push_back(separators_.size());
}

Slice IndexBuilder::InternalSeparator(size_t i) const {
  VARVE_ASSERT(i < separator_ends_.size());
  const size_t begin = i == 0 ? 0 : separator_ends_[i - 1];
  return Slice(separators_.data() + begin, separator_ends_[i] - begin);
}

Slice IndexBuilder::Separator(size_t i) const {
  return uses_user_keys() ? ExtractUserKey(InternalSeparator(i)) : InternalSeparator(i);
}

Slice IndexBuilder::FirstKey(size_t i) const {
  VARVE_ASSERT(i < first_key_ends_.size());
  const size_t begin = i == 0 ? 0 : first_key_ends_[i - 1];
  return Slice(first_keys_.data() + begin, first_key_ends_[i] - begin);
}

// The root is written last, so root_bytes_ ends as the root's.
Status IndexBuilder::WriteBlock(IndexBlockBuilder* block, IndexBlockSink* sink,
                                BlockHandle* handle) {
  const Slice raw = block->Finish();
  root_bytes_ = raw.size();
  total_bytes_ += raw.size();
  VARVE_RETURN_IF_ERROR(sink->WriteIndexBlock(block, raw, handle));
  block->Reset();
  return Status::OK();
}

// Only now is it known if separators need internal keys, so all blocks are made here.
Status IndexBuilder::Finish(IndexBlockSink* sink, BlockHandle* root) {
  if (separator_ends_.size() != handles_.size()) {
    return Status::Corruption("index has " + std::to_string(separator_ends_.size()) +
                              " separators for " + std::to_string(handles_.size()) + " blocks");
  }
  if (options_.type == BlockBasedTableOptions::kTwoLevelIndexSearch) {
    return FinishPartitioned(sink, root);
  }
  const bool with_first_keys = options_.type == BlockBasedTableOptions::kBinarySearchWithFirstKey;
  IndexBlockBuilder block(options_.restart_interval, options_.delta_values);
  for (size_t i = 0; i < handles_.size(); i++) {
    const Slice first_key = with_first_keys ? FirstKey(i) : Slice();
    block.Add(Separator(i), handles_[i], with_first_keys ? &first_key : nullptr);
  }
  return WriteBlock(&block, sink, root);
}

// A partition's separator in the root is that of its last data block: what sorts after it cannot be
// in the partition.
Status IndexBuilder::FinishPartitioned(IndexBlockSink* sink, BlockHandle* root) {
  IndexBlockBuilder partition(options_.restart_interval, options_.delta_values);
  std::vector<BlockHandle> partition_handles;
  std::vector<size_t> last_blocks;
  const size_t n = handles_.size();
  for (size_t i = 0; i < n; i++) {
    partition.Add(Separator(i), handles_[i]);
    if (i + 1 == n || partition.CurrentSize() >= options_.partition_bytes) {
      partition_handles.emplace_back();
      last_blocks.push_back(i);
      VARVE_RETURN_IF_ERROR(WriteBlock(&partition, sink, &partition_handles.back()));
    }
  }
  partitions_ = partition_handles.size();
  IndexBlockBuilder top(options_.restart_interval, options_.delta_values);
  for (size_t i = 0; i < partition_handles.size(); i++) {
    top.Add(Separator(last_blocks[i]), partition_handles[i]);
  }
  return WriteBlock(&top, sink, root);
}

}  // namespace varve
