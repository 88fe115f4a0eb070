// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds a table's index: for each data block a separator key and the block's handle.
//
//      data blocks      [a .. c]    [e .. k]    [k .. m]          k lies on both sides of a border
//      AddFirstKey      a           e           k
//      AddHandle        0           1           2                 when the block was written
//      AddSeparator     d           k@5         m                 when the next first key is known
//
// Separators may be user keys without a trailer, unless one user key is on both sides of a border:
// that requires internal keys in the whole index. Whether there is such a border is known only
// after the last block. So separators are collected while the table is written, and the index
// blocks are made at the end.
//
// A separator may be any key from the last one of its block up to the next first key, exclusively;
// a short one is preferred, as the index is held in memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/table.h"

#include "table/format/block_handle.h"
#include "table/index/index_block_builder.h"
#include "util/base/assert.h"
#include "util/key/internal_key.h"

namespace varve {

// Receives finished index blocks.
class IndexBlockSink {
 public:
  virtual ~IndexBlockSink() = default;
  // Writes the finished block of `builder`, whose content is `raw`, after everything already
  // written, and sets *handle to its place. May use the room for the trailer (builder->trailer()).
  virtual Status WriteIndexBlock(IndexBlockBuilder* builder, const Slice& raw,
                                 BlockHandle* handle) = 0;
};

// Thread safety: none.
class IndexBuilder {
 public:
  struct Options {
    const InternalKeyComparator* icmp = nullptr;  // must outlive the builder
    BlockBasedTableOptions::IndexType type = BlockBasedTableOptions::kBinarySearch;
    BlockBasedTableOptions::IndexShorteningMode shortening =
        BlockBasedTableOptions::IndexShorteningMode::kShortenSeparators;
    int restart_interval = 1;
    uint64_t partition_bytes = 4096;
    bool user_keys = true;     // separators without trailers, if the table's keys allow that
    bool delta_values = true;  // handles as differences, which pays if data blocks are contiguous
  };

  explicit IndexBuilder(const Options& options) : options_(options) {}

  // Called for each data block, in order: AddFirstKey when the block is started, AddHandle when it
  // is written, and AddSeparator when the next block's first key, or the end (null), is known.
  void AddFirstKey(const Slice& first_internal_key);
  void AddHandle(const BlockHandle& handle) {
    VARVE_ASSERT(handles_.empty() || handle.offset >= handles_.back().end());
    handles_.push_back(handle);
  }
  void AddSeparator(const Slice& last_internal_key, const Slice* next_internal_key);

  // Returns the number of data blocks that have ended.
  [[nodiscard]] size_t block_count() const { return separator_ends_.size(); }
  // Returns the approximate size of the index on disk.
  [[nodiscard]] size_t EstimatedSize() const {
    return separators_.size() + first_keys_.size() + separator_ends_.size() * kEstimatedHandle;
  }

  // Writes all index blocks, the root last, and sets *root to its place. Requires that AddSeparator
  // was called for each block. Returns the first error of the sink.
  Status Finish(IndexBlockSink* sink, BlockHandle* root);

  // Return the form of the index blocks. uses_user_keys() is final after the last separator.
  [[nodiscard]] bool uses_user_keys() const { return options_.user_keys && !needs_internal_keys_; }
  [[nodiscard]] bool uses_delta_values() const { return options_.delta_values; }
  [[nodiscard]] int restart_interval() const { return options_.restart_interval; }

  // Returns the number of partitions. Valid after Finish.
  [[nodiscard]] uint64_t partitions() const { return partitions_; }
  // Return the bytes before compression, of all index blocks and of the root alone.
  [[nodiscard]] uint64_t total_bytes() const { return total_bytes_; }
  [[nodiscard]] uint64_t root_bytes() const { return root_bytes_; }

 private:
  // Estimated bytes of an encoded handle.
  static constexpr size_t kEstimatedHandle = 8;

  // Return what was collected for block i: its separator, with or without trailer, and its first
  // key.
  [[nodiscard]] Slice InternalSeparator(size_t i) const;
  [[nodiscard]] Slice Separator(size_t i) const;
  [[nodiscard]] Slice FirstKey(size_t i) const;
  // Writes one index block through the sink.
  Status WriteBlock(IndexBlockBuilder* block, IndexBlockSink* sink, BlockHandle* handle);
  // Writes all partitions, and then the root that points to them.
  Status FinishPartitioned(IndexBlockSink* sink, BlockHandle* root);

  const Options options_;
  std::vector<BlockHandle> handles_;
  // Internal keys back to back; the i-th ends at separator_ends_[i]. First keys are stored
  // likewise.
  std::string separators_;
  std::vector<size_t> separator_ends_;
  std::string first_keys_;
  std::vector<size_t> first_key_ends_;
  bool needs_internal_keys_ = false;
  std::string scratch_;
  uint64_t partitions_ = 0;
  uint64_t total_bytes_ = 0;
  uint64_t root_bytes_ = 0;
};

}  // namespace varve
