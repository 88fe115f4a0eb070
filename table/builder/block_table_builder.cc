// SPDX-License-Identifier: Apache-2.0

// Takes entries and produces data blocks; block_table_finish.cc writes what follows them.
//
//    Add --> data_block_ --full--> CloseDataBlock --> writer_ (compress, checksum, append)
//     |                                  |                |
//     +-> filter_, collectors_           +-> index_ <-----+ handle
//
// Three things make this more than a loop:
//
// 1. The separator of a block is known only when the next block's first key is, or at the end:
//    shorter keys between two blocks make a smaller index. So a block is closed by the entry after
//    it.
// 2. With a dictionary (holds_blocks_) data blocks are kept in memory, raw, until there are enough
//    samples; then the dictionary is made and all of them are written. The index learns separators
//    at once and handles later, in the same order.
// 3. With compression threads (pipeline_) blocks are compressed and written by others. The size of
//    the file is an estimate until the pipeline is drained (ReachesExactly), and the index gets
//    handles from there.
//
// Invariants:
//
// 1. Keys ascend strictly in internal order; an entry that does not is refused and the table fails.
//    This is the last check before bytes are written, so it is made in every build.
// 2. All versions of a user key are in one filter partition.
// 3. Nothing is written before the dictionary stands; blocks that were written without it could not
//    be told from others.
// 4. After the first error nothing more is written; Finish returns that error.
// 5. The number of separators is that of blocks closed, the number of handles that of blocks
//    written; they are equal at the end.
//
// One thread uses a builder; the pipeline's threads see only blocks that were handed over.

#include "table/builder/block_table_builder.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "varve/comparator.h"
#include "varve/filter_policy.h"

#include "table/format/footer.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/coding/hash.h"
#include "util/filter/builtin_filter_policy.h"
#include "util/key/entry_limits.h"

namespace varve {
namespace {

// The functions below return the options of the builder's parts, made from those of the table.

BlockWriter::Options WriterOptions(const BlockTableBuildOptions& options, uint32_t base_context) {
  BlockWriter::Options result;
  result.checksum = options.table.checksum;
  result.format_version = options.table.format_version;
  result.base_context_checksum = base_context;
  result.compression = options.compression;
  result.compression_opts = options.compression_opts;
  result.verify_compression = options.table.verify_compression;
  // One part in `ratio` of a super block may be padding; 0 turns super blocks off.
  const size_t ratio = options.table.super_block_alignment_space_overhead_ratio;
  if (ratio != 0) {
    result.super_block = options.table.super_block_alignment_size;
    result.padding_max = result.super_block / ratio;
  }
  result.statistics = options.statistics;
  return result;
}

BlockBuilder::Options DataBlockOptions(const BlockTableBuildOptions& options) {
  const BlockBasedTableOptions& table = options.table;
  BlockBuilder::Options result;
  result.restart_interval = table.block_restart_interval;
  result.delta_keys = table.use_delta_encoding;
  // The hash covers the whole user key: with a timestamp, readers do not know where the key ends,
  // and keys that compare equal must not differ in bytes.
  if (table.data_block_index_type == BlockBasedTableOptions::kDataBlockBinaryAndHash &&
      options.icmp->timestamp_size() == 0 &&
      !options.icmp->user_comparator()->CanKeysWithDifferentByteContentsBeEqual()) {
    result.hash_index_ratio = table.data_block_hash_table_util_ratio;
  }
  return result;
}

BlockBuilder::Options WholeKeyBlockOptions() {
  BlockBuilder::Options result;
  result.restart_interval = 1;
  return result;
}

IndexBuilder::Options IndexOptions(const BlockTableBuildOptions& options) {
  IndexBuilder::Options result;
  result.icmp = options.icmp;
  result.type = options.table.index_type;
  result.shortening = options.table.index_shortening;
  // The prefix blocks refer to data blocks by restart points of the index.
  const bool hash = result.type == BlockBasedTableOptions::kHashSearch;
  result.restart_interval = hash ? 1 : std::max(options.table.index_block_restart_interval, 1);
  result.partition_bytes = options.table.metadata_block_size;
  // Readers of earlier versions do not know these two forms. Aligned blocks have gaps between them,
  // so that a handle does not follow from the one before.
  result.user_keys = options.table.format_version >= 3;
  result.delta_values = options.table.format_version >= 4 && !options.table.block_align;
  return result;
}

FilterBuilder::Kind FilterKindFor(const BlockTableBuildOptions& options,
                                  const BuiltinFilterPolicy& policy) {
  if (!policy.is_ribbon()) {
    return options.table.format_version < 5 ? FilterBuilder::Kind::kLegacyBloom
                                            : FilterBuilder::Kind::kFastLocalBloom;
  }
  FilterBuildingContext context(options.table);
  context.level_at_creation = options.level;
  context.column_family_name = options.column_family_name;
  context.reason = options.reason;
  return policy.BuildsRibbon(context) ? FilterBuilder::Kind::kRibbon
                                      : FilterBuilder::Kind::kFastLocalBloom;
}

// Returns no value if the table gets no filter.
std::optional<FilterBuilder::Options> FilterOptions(const BlockTableBuildOptions& options) {
  const BuiltinFilterPolicy* const policy =
      AsBuiltinFilterPolicy(options.table.filter_policy.get());
  if (policy == nullptr || policy->millibits_per_key() == 0 || options.skip_filters) return {};
  FilterBuilder::Options result;
  result.kind = FilterKindFor(options, *policy);
  result.millibits_per_key = policy->millibits_per_key();
  result.whole_keys = options.table.whole_key_filtering;
  result.prefix_extractor = options.prefix_extractor;
  result.verify = options.table.detect_filter_construct_corruption;
  result.charge = NewCacheCharge(options.table, CacheEntryRole::kFilterConstruction);
  // The option has no effect if the index is not partitioned, as in RocksDB.
  if (options.table.partition_filters &&
      options.table.index_type == BlockBasedTableOptions::kTwoLevelIndexSearch) {
    result.partition_bytes = options.table.metadata_block_size;
  }
  return result;
}

// Returns the alignment of data blocks: a block smaller than a page must not cross a page border.
uint64_t Alignment(const BlockBasedTableOptions& table) {
  constexpr uint64_t kPage = 4096;
  return table.block_align ? std::min<uint64_t>(table.block_size, kPage) : 1;
}

// Returns a hash that most probably differs from those of other files, as a session never writes a
// file number twice. It is not zero, which would mean that no context is in use.
uint32_t BaseContextChecksum(const BlockTableBuildOptions& options) {
  if (!Footer::UsesContext(options.table.format_version)) return 0;
  const std::string& session = options.db_session_id;
  const auto hash =
      static_cast<uint32_t>(XXH3Hash64(session.data(), session.size(), options.file_number));
  return hash == 0 ? 1 : hash;
}

uint64_t BlockSize(const BlockBasedTableOptions& table) {
  return std::min<uint64_t>(table.block_size, kEntryBytesMax);
}

// Returns null if blocks end by size, which the builder does itself.
std::unique_ptr<FlushBlockPolicy> UserPolicy(const BlockBasedTableOptions& table,
                                             const BlockBuilder& block) {
  const FlushBlockPolicyFactory* const factory = table.flush_block_policy_factory.get();
  if (factory == nullptr) return nullptr;
  return std::unique_ptr<FlushBlockPolicy>(factory->NewFlushBlockPolicy(table, block));
}

uint64_t NearlyFull(const BlockBasedTableOptions& table) {
  const int deviation = table.block_size_deviation;
  if (deviation <= 0 || deviation > 100) return BlockSize(table);
  return (BlockSize(table) * static_cast<uint64_t>(100 - deviation) + 99) / 100;
}

// For fewer bytes, starting a thread costs more than it can save.
constexpr uint64_t kBytesWorthAThread = 32 << 10;

// Returns the number of threads that compress beside the one that adds entries. Returns 0 if
// nothing is compressed (kNoCompression, aligned blocks), if there are collectors, which are told
// the size of the file at every entry, or if one thread is wanted and there is a single processor.
size_t PipelineThreads(const BlockTableBuildOptions& options) {
  constexpr uint32_t kThreadsMax = 32;
  const uint32_t wanted = std::min(options.compression_opts.parallel_threads, kThreadsMax);
  const bool fits = options.compression != kNoCompression && !options.table.block_align &&
                    options.collector_factories.empty();
  if (!fits || (wanted == 1 && std::thread::hardware_concurrency() < 2)) return 0;
  return wanted;
}

}  // namespace

BlockTableBuilder::BlockTableBuilder(const BlockTableBuildOptions& options,
                                     WritableFileWriter* file)
    : options_(options),
      key_order_(options.icmp->order()),
      timestamp_size_(options.icmp->timestamp_size()),
      base_context_checksum_(BaseContextChecksum(options)),
      writer_(WriterOptions(options, base_context_checksum_), file),
      data_block_(DataBlockOptions(options)),
      tombstone_block_(WholeKeyBlockOptions()),
      index_(IndexOptions(options)),
      timestamps_(options.icmp->user_comparator()),
      policy_(UserPolicy(options.table, data_block_)),
      sampler_(options.sample_for_compression),
      block_size_(BlockSize(options.table)),
      nearly_full_(NearlyFull(options.table)),
      alignment_(Alignment(options.table)),
      holds_blocks_(writer_.compresses() && options.compression_opts.max_dict_bytes > 0 &&
                    CodecSupportsDictionary(options.compression)),
      pipeline_threads_(PipelineThreads(options)) {
  if (holds_blocks_) {
    held_charge_ = ChargedBytes(
        NewCacheCharge(options.table, CacheEntryRole::kCompressionDictionaryBuildingBuffer));
  }
  if (const auto filter = FilterOptions(options); filter.has_value()) filter_.emplace(*filter);
  if (options.table.index_type == BlockBasedTableOptions::kHashSearch) {
    prefix_blocks_.emplace(options.prefix_extractor);
  }
  collectors_.Start(options_, &properties_);
}

BlockTableBuilder::~BlockTableBuilder() = default;

// Compares with the last key by the first byte that differs, which the block builder has found
// already to share the prefix. Only a comparator of another kind needs a call.
bool BlockTableBuilder::SortsAfterLast(const Slice& key, size_t shared) const {
  const Slice last = data_block_.last_key();
  VARVE_ASSERT(points_ > 0 && last.size() >= kInternalKeyTrailerBytes);
  if (key_order_ != KeyOrder::kBytewise) return options_.icmp->Compare(last, key) < 0;
  const size_t user_size = key.size() - kInternalKeyTrailerBytes;
  const size_t last_user_size = last.size() - kInternalKeyTrailerBytes;
  if (shared < std::min(user_size, last_user_size)) [[likely]] {
    return static_cast<unsigned char>(last[shared]) < static_cast<unsigned char>(key[shared]);
  }
  if (user_size != last_user_size) return last_user_size < user_size;
  return ExtractTrailer(key) < ExtractTrailer(last);
}

// True if the block should end before the entry. A block ends when it has block_size bytes, or
// when it is nearly full and the entry would overflow it; an entry that is larger than a block
// gets one alone.
bool BlockTableBuilder::BlockIsFull(const Slice& key, const Slice& value, size_t shared) {
  if (policy_ != nullptr) [[unlikely]]
    return PolicyEndsBlock(key, value);
  const uint64_t now = data_block_.CurrentSize();
  const uint64_t then = now + key.size() - shared + value.size();
  if (then < nearly_full_) [[likely]]
    return false;
  // Even a block that has just begun may have no room for a very large entry.
  if (now < nearly_full_) return then > kEntryBytesMax;
  constexpr uint64_t kEntryOverhead = 4;  // for the lengths, as in flush_block_policy.cc
  return now >= block_size_ || then + kEntryOverhead > block_size_;
}

bool BlockTableBuilder::PolicyEndsBlock(const Slice& key, const Slice& value) {
  const bool wanted = policy_->Update(key, value);
  return !data_block_.empty() &&
         (wanted || data_block_.CurrentSize() + key.size() + value.size() > kEntryBytesMax);
}

// Checks the entry and its order, ends the block before it if that is full, tells filter and index,
// and only then adds the entry, because both still want the key before it (last_key). After an
// error the table has failed, and later calls do nothing.
void BlockTableBuilder::Add(const Slice& key, const Slice& value) {
  if (closed_) [[unlikely]]
    return;
  const bool sound =
      key.size() >= kInternalKeyTrailerBytes && key.size() + value.size() <= kEntryBytesMax &&
      IsEntryType(ExtractValueType(key)) && ExtractValueType(key) != kTypeRangeDeletion;
  if (!sound) [[unlikely]] {
    RefuseEntry(key, value);
    return;
  }
  const size_t shared = data_block_.SharedWithLast(key);
  if (points_ > 0) [[likely]] {
    if (!SortsAfterLast(key, shared)) [[unlikely]] {
      RefuseEntry(key, value);
      return;
    }
    if (BlockIsFull(key, value, shared)) [[unlikely]] {
      if (Status s = CloseDataBlock(&key); !s.ok()) {
        Fail(s);
        return;
      }
    }
  } else if (policy_ != nullptr) [[unlikely]] {
    policy_->Update(key, value);  // the policy sees every entry; there is no block to end yet
  }
  if (data_block_.empty()) [[unlikely]]
    index_.AddFirstKey(key);
  AddToHelpers(key);
  data_block_.Add(key, value, shared);

  const uint64_t trailer = ExtractTrailer(key);
  points_++;
  entries_of_type_[trailer & 31]++;
  raw_key_bytes_ += key.size();
  raw_value_bytes_ += value.size();
  max_trailer_ = std::max(max_trailer_, trailer);
  min_trailer_ = std::min(min_trailer_, trailer);
  collectors_.Tell(key, value, writer_.offset());
  if (timestamp_size_ != 0) [[unlikely]]
    timestamps_.Add(ExtractUserKey(key));
}

inline void BlockTableBuilder::AddToHelpers(const Slice& internal_key) {
  const Slice key = options_.icmp->KeyOf(internal_key);
  if (filter_.has_value()) {
    if (filter_->PartitionIsFull()) [[unlikely]]
      CutFilterPartition(key);
    filter_->Add(key);
  }
  if (prefix_blocks_.has_value()) [[unlikely]]
    prefix_blocks_->Add(key, static_cast<uint32_t>(index_.block_count()));
}

void BlockTableBuilder::CutFilterPartition(const Slice& next) {
  // All versions of a user key must be in one partition.
  const Slice last = options_.icmp->KeyOf(data_block_.last_key());
  if (options_.icmp->EqualKey(last, next)) return;
  if (Status s = filter_->CutPartition(last, next); !s.ok()) Fail(s);
}

// Sets the error for an entry that Add has rejected.
void BlockTableBuilder::RefuseEntry(const Slice& key, const Slice& value) {
  ParsedInternalKey parsed;
  if (key.size() + value.size() > kEntryBytesMax) {
    Fail(Status::InvalidArgument(writer_.file_name(),
                                 "entry of " + std::to_string(key.size() + value.size()) +
                                     " bytes is too large for a table block"));
  } else if (!ParseInternalKey(key, &parsed) || parsed.type == kTypeRangeDeletion) {
    Fail(DescribeBadInternalKey(key, Slice(writer_.file_name())));
  } else {
    Fail(Status::Corruption(writer_.file_name(),
                            "an entry does not sort after the one before it: " +
                                parsed.DebugString(/*show_key=*/options_.allow_data_in_errors)));
  }
}

void BlockTableBuilder::Fail(const Status& status) {
  status_.UpdateIfOk(status);
  closed_ = true;
}

// Writes the block, or keeps it back for the dictionary, and gives the index its separator: the
// last key, shortened against `next`.
Status BlockTableBuilder::CloseDataBlock(const Slice* next) {
  if (data_block_.empty()) return Status::OK();
  const Slice raw = data_block_.Finish();
  const uint64_t raw_bytes = raw.size();
  if (holds_blocks_) {
    std::string& held = held_blocks_.emplace_back();
    held.reserve(raw.size() + kBlockTrailerBytes);
    held.assign(raw.data(), raw.size());
    held_bytes_ += raw_bytes;
  } else {
    // The first argument is `raw` again, but writable: the trailer is written behind it.
    VARVE_RETURN_IF_ERROR(WriteDataBlock(data_block_.trailer() - raw_bytes, raw.size()));
  }
  index_.AddSeparator(data_block_.last_key(), next);
  data_block_.Reset();
  UpdateTailEstimate();
  if (filter_.has_value()) filter_->UpdateCharge();
  if (!holds_blocks_ || MayHoldMore()) return Status::OK();
  return ReleaseHeldBlocks();
}

// Writes a block, or hands it to the pipeline. Threads start only once the file is so large that
// they pay.
Status BlockTableBuilder::WriteDataBlock(char* data, size_t size) {
  sampled_ = sampler_.Look(Slice(data, size));
  if (pipeline_threads_ > 0 && writer_.compresses()) {
    if (pipeline_ == nullptr && writer_.offset() >= kBytesWorthAThread) {
      pipeline_ = std::make_unique<BlockPipeline>(&writer_, Slice(dictionary_), pipeline_threads_,
                                                  block_size_);
    }
    if (pipeline_ != nullptr) return pipeline_->Push(Slice(data, size));
  }
  BlockHandle handle;
  BlockWriter::Outcome outcome = BlockWriter::Outcome::kPlain;
  VARVE_RETURN_IF_ERROR(writer_.WriteData(data, size, Slice(dictionary_), &handle, &outcome));
  index_.AddHandle(handle);
  VARVE_RETURN_IF_ERROR(writer_.PadTo(alignment_));
  CountDataBlock(size, outcome);
  return Status::OK();
}

void BlockTableBuilder::CountDataBlock(uint64_t raw_bytes, BlockWriter::Outcome outcome) {
  properties_.num_data_blocks++;
  if (outcome == BlockWriter::Outcome::kRejected) {
    properties_.num_data_blocks_compression_rejected++;
  }
  data_bytes_ = writer_.offset();
  // Where there are collectors there is no pipeline (PipelineThreads), so sampled_ is of this
  // block.
  collectors_.TellBlock(raw_bytes, sampled_.fast, sampled_.slow);
}

Status BlockTableBuilder::DrainPipeline() {
  std::deque<BlockPipeline::Written> written;
  VARVE_RETURN_IF_ERROR(pipeline_->Drain(&written));
  for (const BlockPipeline::Written& block : written) {
    index_.AddHandle(block.handle);
    CountDataBlock(block.raw_bytes, block.outcome);
  }
  return Status::OK();
}

Status BlockTableBuilder::ClosePipeline() {
  if (pipeline_ == nullptr) return Status::OK();
  VARVE_RETURN_IF_ERROR(DrainPipeline());
  helper_cpu_micros_ = pipeline_->Stop();
  pipeline_.reset();
  return Status::OK();
}

// Makes the estimate of the size exact if that may decide whether the table ends here.
bool BlockTableBuilder::ReachesExactly(uint64_t bytes) {
  if (pipeline_ == nullptr || pipeline_->drained()) return true;
  if (Status s = DrainPipeline(); !s.ok()) Fail(s);
  return EstimatedFileSize() >= bytes;
}

void BlockTableBuilder::Abandon() {
  closed_ = true;
  pipeline_.reset();
}

void BlockTableBuilder::UpdateTailEstimate() {
  tail_estimate_ = index_.EstimatedSize() + tombstone_block_.CurrentSize() +
                   (filter_.has_value() ? filter_->EstimatedSize() : 0);
}

// If no more memory is granted, the dictionary is made from the samples so far.
bool BlockTableBuilder::MayHoldMore() {
  const uint64_t limit = options_.compression_opts.max_dict_buffer_bytes;
  if (limit > 0 && held_bytes_ >= limit) return false;
  return held_charge_.TrySet(static_cast<size_t>(held_bytes_)).ok();
}

// Is called once, when there are enough samples or no more entries. Data blocks are written as they
// fill from then on.
Status BlockTableBuilder::ReleaseHeldBlocks() {
  // Blocks that were already written could not be read with the dictionary.
  VARVE_ASSERT(holds_blocks_ && pipeline_ == nullptr && writer_.offset() == 0);
  holds_blocks_ = false;
  dictionary_ = MakeDictionary();
  for (std::string& held : held_blocks_) {
    const size_t size = held.size();
    held.resize(size + kBlockTrailerBytes);
    VARVE_RETURN_IF_ERROR(WriteDataBlock(held.data(), size));
  }
  held_blocks_.clear();
  held_blocks_.shrink_to_fit();
  held_bytes_ = 0;
  held_charge_.Set(0);
  return Status::OK();
}

// Returns a dictionary made from the beginnings of blocks that are spread evenly over those kept
// back: their bytes as they are, or what ZSTD makes of them.
std::string BlockTableBuilder::MakeDictionary() const {
  const CompressionOptions& opts = options_.compression_opts;
  const bool train = options_.compression == kZSTD && opts.zstd_max_train_bytes > 0;
  const uint64_t wanted = train ? opts.zstd_max_train_bytes : opts.max_dict_bytes;
  if (held_blocks_.empty()) return std::string();

  const uint64_t average = std::max<uint64_t>(held_bytes_ / held_blocks_.size(), 1);
  const uint64_t count = (wanted + average - 1) / average;
  const size_t step =
      std::max<size_t>(held_blocks_.size() / static_cast<size_t>(std::max<uint64_t>(count, 1)), 1);
  std::string samples;
  std::vector<size_t> lengths;
  for (size_t i = 0; i < held_blocks_.size() && samples.size() < wanted; i += step) {
    const size_t room = static_cast<size_t>(wanted) - samples.size();
    const size_t n = std::min(held_blocks_[i].size(), room);
    samples.append(held_blocks_[i], 0, n);
    lengths.push_back(n);
  }
  if (!train) return samples;
  if (opts.use_zstd_dict_trainer) {
    return TrainZstdDictionary(Slice(samples), lengths, opts.max_dict_bytes);
  }
  return FinalizeZstdDictionary(Slice(samples), lengths, opts.max_dict_bytes, opts.level);
}

// Tombstones are kept in one block of their own, which is written with the tail.
void BlockTableBuilder::AddTombstone(const Slice& begin, const Slice& end_user_key) {
  if (closed_) return;
  if (begin.size() < kInternalKeyTrailerBytes || ExtractValueType(begin) != kTypeRangeDeletion) {
    Fail(Status::Corruption(writer_.file_name(), "not the key of a range deletion: " +
                                                     std::to_string(begin.size()) + " bytes"));
    return;
  }
  if (tombstone_block_.CurrentSize() + begin.size() + end_user_key.size() > kEntryBytesMax) {
    Fail(Status::InvalidArgument(writer_.file_name(),
                                 "the range deletions of one table exceed 4 GiB"));
    return;
  }
  if (tombstones_ > 0 && options_.icmp->Compare(tombstone_block_.last_key(), begin) > 0) {
    Fail(Status::Corruption(writer_.file_name(), "range deletions are not in order"));
    return;
  }
  tombstone_block_.Add(begin, end_user_key);
  const uint64_t trailer = ExtractTrailer(begin);
  tombstones_++;
  raw_key_bytes_ += begin.size();
  raw_value_bytes_ += end_user_key.size();
  max_trailer_ = std::max(max_trailer_, trailer);
  min_trailer_ = std::min(min_trailer_, trailer);
  UpdateTailEstimate();
  collectors_.Tell(begin, end_user_key, writer_.offset());
  if (timestamp_size_ != 0) timestamps_.Add(ExtractUserKey(begin));
}

}  // namespace varve
