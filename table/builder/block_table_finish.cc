// SPDX-License-Identifier: Apache-2.0

// Writes everything after the data: filter, index, dictionary, range deletions, properties,
// metaindex and footer.

#include <cstdio>

#include "varve/filter_policy.h"

#include "table/builder/block_table_builder.h"
#include "table/builder/table_description.h"
#include "table/format/footer.h"
#include "table/format/unique_id.h"
#include "table/meta/properties_block.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {
namespace {

// Returns a text that is informative only.
std::string CompressionOptionsText(const CompressionOptions& opts) {
  const auto field = [](const char* name, uint64_t value) {
    return std::string(name) + "=" + std::to_string(value) + "; ";
  };
  return "window_bits=" + std::to_string(opts.window_bits) +
         "; level=" + std::to_string(opts.level) + "; strategy=" + std::to_string(opts.strategy) +
         "; " + field("max_dict_bytes", opts.max_dict_bytes) +
         field("zstd_max_train_bytes", opts.zstd_max_train_bytes) +
         field("enabled", opts.enabled ? 1 : 0) +
         field("max_dict_buffer_bytes", opts.max_dict_buffer_bytes) +
         field("use_zstd_dict_trainer", opts.use_zstd_dict_trainer ? 1 : 0);
}

}  // namespace

// The order is that of the file: the last data block, then blocks that waited for a dictionary,
// then what the pipeline still has. Only then is data_bytes_ the end of the data.
Status BlockTableBuilder::Finish() {
  if (!status_.ok()) return status_;
  if (closed_) {
    return Status::InvalidArgument(writer_.file_name(), "Finish after Finish or Abandon");
  }
  Status s = CloseDataBlock(nullptr);
  if (s.ok() && holds_blocks_) s = ReleaseHeldBlocks();
  if (s.ok()) s = ClosePipeline();
  if (s.ok()) s = WriteTail();
  if (!s.ok()) {
    Fail(s);
    return status_;
  }
  closed_ = true;
  finished_ = true;
  return Status::OK();
}

// Each part adds its handle to the metaindex, which comes last but for the footer. Readers find
// parts by name, so their order is free, except that properties come after all that they count.
Status BlockTableBuilder::WriteTail() {
  // Every data block is in the file, and no other thread writes to it.
  VARVE_ASSERT(pipeline_ == nullptr && !holds_blocks_ && held_bytes_ == 0);
  VARVE_ASSERT(data_bytes_ == writer_.offset());
  properties_.tail_start_offset = data_bytes_;
  VARVE_RETURN_IF_ERROR(WriteFilter());
  VARVE_RETURN_IF_ERROR(WritePrefixBlocks());
  VARVE_RETURN_IF_ERROR(WriteIndex());
  VARVE_RETURN_IF_ERROR(WriteDictionary());
  VARVE_RETURN_IF_ERROR(WriteTombstones());
  VARVE_RETURN_IF_ERROR(WriteProperties());
  VARVE_RETURN_IF_ERROR(WriteMetaindexAndFooter());
  tail_size_ = writer_.offset() - data_bytes_;
  tail_estimate_ = 0;
  data_block_.Reset();
  return Status::OK();
}

Status BlockTableBuilder::WriteFilter() {
  if (!filter_.has_value() || filter_->entry_count() == 0) return Status::OK();
  // The last key is still in the block builder, which is reset only after the tail.
  VARVE_RETURN_IF_ERROR(filter_->Finish(options_.icmp->KeyOf(data_block_.last_key())));
  properties_.num_filter_entries = filter_->entry_count();
  properties_.filter_size = filter_->EstimatedSize();
  if (filter_->is_partitioned()) return WriteFilterPartitions();
  BlockHandle handle;
  VARVE_RETURN_IF_ERROR(writer_.WritePlain(&filter_->partitions().front().block, &handle));
  metaindex_.Add(meta_block::kFullFilter, handle);
  return Status::OK();
}

// A partition is found by a small index of its own, whose separators come after the last key of
// each partition.
Status BlockTableBuilder::WriteFilterPartitions() {
  IndexBlockBuilder top(index_.restart_interval(), index_.uses_delta_values());
  std::string separator;
  BlockHandle handle;
  for (FilterBuilder::Partition& partition : filter_->partitions()) {
    VARVE_RETURN_IF_ERROR(writer_.WritePlain(&partition.block, &handle));
    // The separator must sort after every version of the partition's last key.
    const std::string last = options_.icmp->LastUserKey(partition.last_user_key);
    separator.clear();
    AppendInternalKey(&separator, last, 0, kTypeDeletion);
    top.Add(index_.uses_user_keys() ? Slice(last) : Slice(separator), handle);
  }
  const Slice raw = top.Finish();
  properties_.filter_size += raw.size();
  VARVE_RETURN_IF_ERROR(writer_.WritePlain(top.trailer() - raw.size(), raw.size(), &handle));
  metaindex_.Add(meta_block::kPartitionedFilter, handle);
  return Status::OK();
}

Status BlockTableBuilder::WritePrefixBlocks() {
  if (!prefix_blocks_.has_value()) return Status::OK();
  prefix_blocks_->Finish();
  BlockHandle handle;
  VARVE_RETURN_IF_ERROR(writer_.WritePlain(prefix_blocks_->prefixes(), &handle));
  metaindex_.Add(meta_block::kHashIndexPrefixes, handle);
  VARVE_RETURN_IF_ERROR(writer_.WritePlain(prefix_blocks_->metadata(), &handle));
  metaindex_.Add(meta_block::kHashIndexMetadata, handle);
  return Status::OK();
}

Status BlockTableBuilder::WriteIndex() {
  VARVE_RETURN_IF_ERROR(index_.Finish(this, &index_handle_));
  if (Footer::UsesContext(options_.table.format_version)) {
    metaindex_.Add(meta_block::kIndex, index_handle_);
  }
  // RocksDB, whose property this is, counts one trailer for any number of index blocks.
  properties_.index_size = index_.total_bytes() + kBlockTrailerBytes;
  properties_.index_partitions = index_.partitions();
  if (index_.partitions() > 0) properties_.top_level_index_size = index_.root_bytes();
  return Status::OK();
}

// The raw block and the room for its trailer are one piece of the builder's memory, so nothing is
// copied.
Status BlockTableBuilder::WriteIndexBlock(IndexBlockBuilder* builder, const Slice& raw,
                                          BlockHandle* handle) {
  char* const data = builder->trailer() - raw.size();
  if (!options_.table.enable_index_compression) {
    return writer_.WritePlain(data, raw.size(), handle);
  }
  return writer_.WriteCompressible(data, raw.size(), handle);
}

Status BlockTableBuilder::WriteDictionary() {
  if (dictionary_.empty()) return Status::OK();
  BlockHandle handle;
  VARVE_RETURN_IF_ERROR(writer_.WritePlain(&dictionary_, &handle));
  metaindex_.Add(meta_block::kCompressionDictionary, handle);
  return Status::OK();
}

Status BlockTableBuilder::WriteTombstones() {
  if (tombstones_ == 0) return Status::OK();
  const Slice raw = tombstone_block_.Finish();
  BlockHandle handle;
  VARVE_RETURN_IF_ERROR(
      writer_.WritePlain(tombstone_block_.trailer() - raw.size(), raw.size(), &handle));
  metaindex_.Add(meta_block::kRangeDeletions, handle);
  return Status::OK();
}

// Collectors come first: their properties are among those that are written.
Status BlockTableBuilder::WriteProperties() {
  collectors_.Finish(&properties_);
  FillProperties();
  TableTraits traits;
  traits.index_type = options_.table.index_type;
  traits.whole_key_filtering = options_.table.whole_key_filtering;
  traits.prefix_filtering = options_.prefix_extractor != nullptr;
  traits.decoupled_partitioned_filters = filter_.has_value() && filter_->is_partitioned();
  std::string block;
  EncodeProperties(properties_, traits, &block);
  BlockHandle handle;
  VARVE_RETURN_IF_ERROR(writer_.WritePlain(&block, &handle));
  metaindex_.Add(meta_block::kProperties, handle);
  return Status::OK();
}

Status BlockTableBuilder::WriteMetaindexAndFooter() {
  Footer footer;
  footer.format_version = options_.table.format_version;
  footer.checksum = options_.table.checksum;
  footer.base_context_checksum = base_context_checksum_;
  footer.index = index_handle_;
  std::string block = metaindex_.Finish();
  VARVE_RETURN_IF_ERROR(writer_.WritePlain(&block, &footer.metaindex));
  std::string encoded;
  footer.EncodeTo(writer_.offset(), &encoded);
  return writer_.AppendRaw(Slice(encoded));
}

// Names and meanings of the properties are RocksDB's.
void BlockTableBuilder::FillProperties() {
  TableProperties& p = properties_;
  p.data_size = data_bytes_;
  p.num_entries = points_ + tombstones_;
  p.num_range_deletions = tombstones_;
  p.num_deletions = entries_of_type_[kTypeDeletion] + entries_of_type_[kTypeSingleDeletion] +
                    entries_of_type_[kTypeDeletionWithTimestamp] + tombstones_;
  p.num_merge_operands = entries_of_type_[kTypeMerge];
  p.raw_key_size = raw_key_bytes_;
  p.raw_value_size = raw_value_bytes_;
  // An empty table leaves both at their default, which means "unknown".
  if (p.num_entries > 0) {
    p.key_largest_seqno = UnpackSequence(max_trailer_);
    p.key_smallest_seqno = UnpackSequence(min_trailer_);
  }
  p.index_key_is_user_key = index_.uses_user_keys() ? 1 : 0;
  p.index_value_is_delta_encoded = index_.uses_delta_values() ? 1 : 0;
  p.format_version = options_.table.format_version;
  p.data_block_restart_interval =
      static_cast<uint64_t>(std::max(options_.table.block_restart_interval, 1));
  p.index_block_restart_interval = static_cast<uint64_t>(index_.restart_interval());
  DescribeTable(options_, &p);
  if (options_.table.filter_policy != nullptr && !options_.skip_filters) {
    p.filter_policy_name = options_.table.filter_policy->Name();
  }
  p.compression_name = CompressionProperty();
  p.compression_options = CompressionOptionsText(options_.compression_opts);
  const CompressionSampler::Sizes sampled = sampler_.Estimate();
  p.fast_compression_estimated_data_size = sampled.fast;
  p.slow_compression_estimated_data_size = sampled.slow;
  timestamps_.Describe(&p.user_collected_properties);
}

std::string BlockTableBuilder::CompressionProperty() const {
  // Readers before format version 7 take this for the codec of every compressed block.
  if (options_.table.format_version < 7) return CompressionTypeName(options_.compression);
  // From version 7 on, the text holds the compressor's name and the types that occur.
  std::string types;
  for (unsigned type = kNoCompression + 1; type < 32; type++) {
    if ((writer_.types_used() >> type & 1) == 0) continue;
    char hex[3];
    std::snprintf(hex, sizeof(hex), "%02X", type);
    types += hex;
  }
  return types.empty() ? ";;" : "BuiltinV2;" + types + ";";
}

std::string BlockTableBuilder::UniqueId() const {
  if (!finished_) return std::string();
  return TableUniqueId(options_.db_id, options_.db_session_id, options_.file_number);
}

}  // namespace varve
