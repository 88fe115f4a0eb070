// SPDX-License-Identifier: Apache-2.0
#pragma once

// The block-based table's builder. Add is the inner loop of flush and compaction: work that is not
// needed for each entry is done for each block or at the end.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/flush_block_policy.h"

#include "table/block/block_builder.h"
#include "table/builder/block_pipeline.h"
#include "table/builder/block_writer.h"
#include "table/builder/compression_sampler.h"
#include "table/builder/property_collectors.h"
#include "table/builder/timestamp_range.h"
#include "table/filter/filter_builder.h"
#include "table/index/index_builder.h"
#include "table/index/prefix_blocks.h"
#include "table/meta/metaindex_builder.h"
#include "table/table_builder.h"
#include "util/mem/cache_charge.h"

namespace varve {

// Arguments of a builder of block-based tables.
struct BlockTableBuildOptions : TableBuildOptions {
  BlockBasedTableOptions table;  // the factory's options
};

// Writes data blocks as they fill, unless a compression dictionary is wanted: then they are kept in
// memory until there are enough samples. If there is a codec, blocks of all but small tables go
// through a pipeline, which does not change the file's contents.
//
// The caller is a flush, a compaction or SstFileWriter: it adds entries in internal key order and
// range deletions in the order of their beginnings, calls Finish, and keeps the file only if that
// returns OK. The builder appends to a file that the caller owns and syncs.
//
// Thread safety: none.
class BlockTableBuilder final : public TableBuilder, private IndexBlockSink {
 public:
  // These implement the functions of TableBuilder.
  static Status CheckOptions(const BlockTableBuildOptions& options);
  static Status Create(const BlockTableBuildOptions& options, WritableFileWriter* file,
                       std::unique_ptr<TableBuilder>* builder);
  ~BlockTableBuilder() override;

  void Add(const Slice& internal_key, const Slice& value) override;
  void AddTombstone(const Slice& begin_internal_key, const Slice& end_user_key) override;
  Status Finish() override;
  void Abandon() override;

  Status status() const override { return status_; }
  uint64_t entry_count() const override { return points_ + tombstones_; }
  uint64_t FileSize() const override {
    return pipeline_ == nullptr ? writer_.offset() : pipeline_->bytes_bound();
  }
  uint64_t EstimatedFileSize() const override {
    return FileSize() + held_bytes_ + data_block_.CurrentSize() + tail_estimate_;
  }
  bool Reaches(uint64_t bytes) override {
    return EstimatedFileSize() >= bytes && ReachesExactly(bytes);
  }
  uint64_t helper_cpu_micros() const override { return helper_cpu_micros_; }
  uint64_t tail_size() const override { return tail_size_; }
  const TableProperties& properties() const override { return properties_; }
  std::string UniqueId() const override;
  bool NeedsCompaction() const override { return collectors_.needs_compaction(); }

 private:
  // Requires options that have passed CheckOptions.
  BlockTableBuilder(const BlockTableBuildOptions& options, WritableFileWriter* file);

  // True if a point entry with this key sorts after the last one, whose first `shared` bytes the
  // key shares. Here and below, keys are internal keys.
  bool SortsAfterLast(const Slice& key, size_t shared) const;
  // True if the block should end before an entry with this key.
  bool BlockIsFull(const Slice& key, const Slice& value, size_t shared);
  // Returns what the user's policy says, within the limit of a block's size.
  bool PolicyEndsBlock(const Slice& key, const Slice& value);
  // Adds an entry to filter and prefix blocks; must be called before it is added to the data block.
  void AddToHelpers(const Slice& internal_key);
  // Ends a partition of the filter between the last key and `next`, unless their user keys are
  // equal.
  void CutFilterPartition(const Slice& next);
  // Ends the data block, if there is one. `next` is the key that follows; null at the end.
  Status CloseDataBlock(const Slice* next);
  // Writes the data block of `size` bytes at `data`, which must be followed by room for
  // kBlockTrailerBytes.
  Status WriteDataBlock(char* data, size_t size);
  // Counts a block that was written.
  void CountDataBlock(uint64_t raw_bytes, BlockWriter::Outcome outcome);
  // True if the estimated size reaches `bytes` even when the pipeline is drained, for which this
  // waits. Until then it counts blocks with upper bounds of their compressed sizes.
  bool ReachesExactly(uint64_t bytes);
  // Waits for the pipeline and takes over its results.
  Status DrainPipeline();
  // Ends the pipeline; the builder writes blocks itself from then on.
  Status ClosePipeline();
  // Estimates the bytes of the parts that follow the data.
  void UpdateTailEstimate();
  // Fails with the reason why an entry was not accepted.
  void RefuseEntry(const Slice& key, const Slice& value);
  // Keeps the first error; nothing is written any more.
  void Fail(const Status& status);

  // Methods for the compression dictionary.
  // True if blocks may still be held back for the dictionary: their number and memory are limited.
  bool MayHoldMore();
  // Makes the dictionary and writes the blocks that waited for it.
  Status ReleaseHeldBlocks();
  // Returns a dictionary from samples of the held blocks; empty if there are none.
  std::string MakeDictionary() const;

  // Write the parts after the data, in the file's order.
  Status WriteTail();
  Status WriteFilter();
  Status WriteFilterPartitions();
  Status WritePrefixBlocks();
  Status WriteIndex();
  Status WriteDictionary();
  Status WriteTombstones();
  Status WriteProperties();
  Status WriteMetaindexAndFooter();
  Status WriteIndexBlock(IndexBlockBuilder* builder, const Slice& raw,
                         BlockHandle* handle) override;
  // Sets the members of properties_ that are known at the end.
  void FillProperties();
  // Returns the names of compression for the properties.
  std::string CompressionProperty() const;

  const BlockTableBuildOptions options_;
  const KeyOrder key_order_;
  const size_t timestamp_size_;
  const uint32_t base_context_checksum_;
  // Compresses blocks, adds their trailers and appends them to the file.
  BlockWriter writer_;
  BlockBuilder data_block_;
  BlockBuilder tombstone_block_;
  IndexBuilder index_;
  std::optional<FilterBuilder> filter_;
  std::optional<PrefixBlocks> prefix_blocks_;
  PropertyCollectors collectors_;
  TimestampRange timestamps_;
  std::unique_ptr<FlushBlockPolicy> policy_;  // the user's policy; null: blocks end by size
  CompressionSampler sampler_;
  CompressionSampler::Sizes sampled_;  // sizes of the current block, if it is a sample

  // Thresholds of BlockIsFull, in bytes.
  const uint64_t block_size_;
  const uint64_t nearly_full_;
  const uint64_t alignment_;  // alignment of data blocks, a power of two; 1: none

  Status status_;          // the first error
  bool closed_ = false;    // after an error, Finish or Abandon: entries are ignored
  bool finished_ = false;  // after a Finish that returned OK: the table has an identity

  // Numbers of entries, and sizes of keys and values before compression.
  uint64_t points_ = 0;
  uint64_t tombstones_ = 0;
  uint64_t raw_key_bytes_ = 0;
  uint64_t raw_value_bytes_ = 0;
  // Number of entries by the five low bits of their type.
  uint64_t entries_of_type_[32] = {};
  // Largest and smallest trailer (sequence and type).
  uint64_t max_trailer_ = 0;
  uint64_t min_trailer_ = UINT64_MAX;

  // True until the dictionary is made, if there is to be one; until then raw blocks are kept in
  // held_blocks_, each with room for a trailer.
  bool holds_blocks_;
  std::vector<std::string> held_blocks_;
  uint64_t held_bytes_ = 0;
  ChargedBytes held_charge_;
  std::string dictionary_;

  const size_t pipeline_threads_;  // 0: no pipeline
  uint64_t helper_cpu_micros_ = 0;

  uint64_t tail_estimate_ = 0;  // estimated bytes of what follows the data; 0 after WriteTail
  uint64_t data_bytes_ = 0;     // end of the data blocks that are in the file
  uint64_t tail_size_ = 0;      // bytes of what follows the data; set by WriteTail
  BlockHandle index_handle_;
  MetaindexBuilder metaindex_;
  TableProperties properties_;
  // Destroyed first, as its threads use the writer and the dictionary.
  std::unique_ptr<BlockPipeline> pipeline_;
};

}  // namespace varve
