// SPDX-License-Identifier: Apache-2.0

// Opens a block-based table: reads everything that a reader keeps in memory, starting with the
// footer.
//
//    data blocks | filter | index | dictionary | tombstones | properties | metaindex | footer
//    <---------- offsets below data_end ------><------------- tail, read by one request -------->
//
// The order of the steps follows from what each needs: the footer says where the metaindex is, and
// with which checksums; the metaindex names all other blocks; the properties say how keys, index
// and filter are encoded, and to which database the file belongs; only then can keys be parsed.
//
// 1. Footer (TakeTail): the last bytes, which one read of the file has fetched together with what
//    lies before them. ReadTableTail chooses the read's size by the size of the file.
// 2. Metaindex: maps names to handles. Unknown names are ignored, as later versions add blocks.
// 3. Properties: absent in LevelDB's tables. Their checksum may be that of the block before an
//    ingestion wrote a sequence number into it (ParsePropertiesBlock).
// 4. Traits (CheckTraits): features that are not supported, the file's identity, the order of keys,
//    and the sequence number that replaces those of all entries.
// 5. Dictionary, range deletions, index, filter. Index and filter stay with the reader, or go to
//    the cache, pinned or not, as the options say (Residency).
//
// Every error names the file. A table that fails any step is not opened; none of its parts is
// kept, and blocks that entered the cache are evicted like others.
//
// A filter that this reader does not use (no policy, another prefix extractor) is not read, but
// its handle is kept, as the checks of whole files must know all blocks.

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "varve/comparator.h"

#include "table/block/block_walker.h"
#include "table/format/block_trailer.h"
#include "table/format/footer.h"
#include "table/meta/properties_block.h"
#include "table/reader/block_table_reader.h"
#include "table/reader/table_facts.h"
#include "table/table_reader.h"
#include "util/base/status_macros.h"
#include "util/env/random_access_file_reader.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// One opening, by the steps above: fills in parts_, which the reader takes over.
class TableOpener {
 public:
  TableOpener(const BlockTableOpenOptions& options, const TableTail& tail,
              std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size)
      : options_(options), tail_(tail), file_size_(file_size) {
    parts_.file = std::move(file);
    parts_.options = options.table;
    parts_.store = std::make_unique<BlockStore>();
    context_.options = &read_options_;
  }

  Status Open(std::unique_ptr<TableReader>* reader);

 private:
  Status CheckOptions() const;
  Status TakeTail();
  Status ReadMetaindex();
  Status ReadProperties();
  Status ParsePropertiesBlock(const BlockHandle& handle);
  Status CheckTraits();
  Status SetOrder();
  Status ReadDictionary();
  Status ReadTombstones();
  Status OpenIndex();
  Status OpenFilter();

  [[nodiscard]] BlockStore& store() const { return *parts_.store; }
  [[nodiscard]] const std::string& name() const { return parts_.store->file.name; }
  // Returns the handle of a meta block, or null if there is none.
  [[nodiscard]] BlockHandle MetaBlock(const char* block_name) const {
    const auto it = metaindex_.find(block_name);
    return it == metaindex_.end() ? BlockHandle() : it->second;
  }
  [[nodiscard]] MetaResidency Residency(bool partitioned) const;
  // True if the reader keeps all partitions of the index and the filter.
  [[nodiscard]] bool PinsPartitions() const;
  [[nodiscard]] bool IsPinned(PinningTier tier, bool fallback) const;
  [[nodiscard]] bool high_priority() const {
    return options_.table.cache_index_and_filter_blocks_with_high_priority;
  }

  const BlockTableOpenOptions& options_;
  const TableTail& tail_;
  const uint64_t file_size_;
  const ReadOptions read_options_;
  BlockReadContext context_;
  BlockTableParts parts_;
  std::map<std::string, BlockHandle> metaindex_;
  TableTraits traits_;
};

Status TableOpener::CheckOptions() const {
  if (options_.table.persistent_cache != nullptr) {
    return Status::NotSupported("BlockBasedTableOptions::persistent_cache");
  }
  if (options_.table.user_defined_index_factory != nullptr) {
    return Status::NotSupported("BlockBasedTableOptions::user_defined_index_factory");
  }
  if (options_.table.no_block_cache && options_.table.block_cache != nullptr) {
    return Status::InvalidArgument("no_block_cache is set beside a block_cache");
  }
  return Status::OK();
}

// The footer says where everything else is. Bytes before it that came with the same read serve the
// later reads of meta blocks (preread).
Status TableOpener::TakeTail() {
  BlockFile& file = store().file;
  file.reader = parts_.file.get();
  file.name = options_.file_name.empty() ? parts_.file->file_name() : options_.file_name;
  file.mapped = tail_.mapped;
  if (!file.mapped) {
    store().preread = tail_.bytes;
    store().preread_offset = tail_.offset;
  }
  const Status s = file.footer.DecodeFrom(tail_.bytes, tail_.offset);
  if (!s.ok()) {
    RecordTick(options_.statistics, SST_FOOTER_CORRUPTION_COUNT);
    return Status::CopyAppendMessage(s, ": ", name());
  }
  file.limit = file_size_ - file.footer.length();
  return Status::OK();
}

// Remembers the handles of all meta blocks by their names, unknown ones included.
Status TableOpener::ReadMetaindex() {
  const BlockHandle handle = store().file.footer.metaindex;
  BlockContents contents;
  VARVE_RETURN_IF_ERROR(store().ReadContents(handle, context_, &contents));
  parts_.meta_blocks.push_back(handle);
  BlockWalker walk(contents.data);
  while (walk.Next()) {
    BlockHandle block;
    Slice value = walk.value();
    if (!BlockHandle::DecodeFrom(&value, &block)) {
      return Status::Corruption("bad handle in the metaindex of", name());
    }
    metaindex_[walk.key().ToString()] = block;
  }
  if (!walk.status().ok()) {
    return Status::CopyAppendMessage(walk.status(), ": metaindex of ", name());
  }
  return Status::OK();
}

// Ingestion may have written the table's sequence number into the properties in place, without
// updating the checksum: then the block verifies with those bytes zero.
Status TableOpener::ParsePropertiesBlock(const BlockHandle& handle) {
  const BlockFile& file = store().file;
  BlockFetch fetch = store().MakeFetch(context_);
  BlockBuffer buffer;
  Slice stored;
  VARVE_RETURN_IF_ERROR(FetchStoredBlock(file, handle, fetch, &buffer, &stored));
  const size_t size = static_cast<size_t>(handle.size);
  const bool intact = IsIntact(file, handle, fetch, stored);
  auto properties = std::make_shared<TableProperties>();
  if (!intact) {
    std::string mended(stored.data(), stored.size());
    const Status damage = BlockChecksumMismatch(
        file.footer.checksum, file.footer.base_context_checksum, stored.data(), handle, file.name);
    if (BlockCompression(stored.data(), size) != kNoCompression ||
        !ParseProperties(Slice(mended.data(), size), properties.get(), &traits_).ok()) {
      return damage;
    }
    const uint64_t at = traits_.external_global_seqno_offset;
    if (at == 0 || at > size || size - at < sizeof(uint64_t)) return damage;
    std::fill_n(mended.begin() + static_cast<std::ptrdiff_t>(at), sizeof(uint64_t), '\0');
    if (!BlockTrailerMatches(file.footer.checksum, file.footer.base_context_checksum, handle.offset,
                             mended.data(), size)) {
      return damage;
    }
  } else {
    parts_.meta_blocks.push_back(handle);
  }
  fetch.verify_checksum = false;
  BlockContents contents;
  VARVE_RETURN_IF_ERROR(UnpackBlock(file, handle, fetch, std::move(buffer), stored, &contents));
  const Status s = ParseProperties(contents.data, properties.get(), &traits_);
  if (!s.ok()) return Status::CopyAppendMessage(s, ": properties of ", name());
  // From a position in the block to one in the file; 0 says that there is none.
  if (properties->external_sst_file_global_seqno_offset != 0) {
    properties->external_sst_file_global_seqno_offset += handle.offset;
  }
  parts_.properties = std::move(properties);
  return Status::OK();
}

Status TableOpener::ReadProperties() {
  BlockHandle handle = MetaBlock(meta_block::kProperties);
  if (handle.IsNull()) handle = MetaBlock(meta_block::kPropertiesOld);
  if (handle.IsNull()) {
    // Tables of LevelDB, and very old ones, have none.
    parts_.properties = std::make_shared<const TableProperties>();
    return Status::OK();
  }
  return ParsePropertiesBlock(handle);
}

// Refuses a table that has a form which cannot be read (ParseProperties has refused others), or is
// not the MANIFEST's; then sets how its keys and index are to be understood. Comes before the index
// is opened, which needs that.
Status TableOpener::CheckTraits() {
  const TableProperties& properties = *parts_.properties;
  if (properties.separate_key_value_in_data_block != 0) {
    return Status::NotSupported("table with separated keys and values", name());
  }
  VARVE_RETURN_IF_ERROR(CheckTableIdentity(properties, options_, name()));
  VARVE_RETURN_IF_ERROR(SetOrder());
  store().index_form.user_keys = traits_.index_key_is_user_key;
  store().index_form.delta_values = traits_.index_value_is_delta_encoded;
  store().index_form.first_keys =
      traits_.index_type == BlockBasedTableOptions::kBinarySearchWithFirstKey;
  return FindOverrideSequence(traits_, options_, name(), &parts_.override_seq);
}

// Sets the order of the keys: keys without the timestamps that the column family's keys have need
// an order of their own.
Status TableOpener::SetOrder() {
  const bool persisted =
      options_.timestamps_persisted && parts_.properties->user_defined_timestamps_persisted != 0;
  if (options_.icmp->timestamp_size() == 0) return Status::OK();
  if (persisted) {
    const UserCollectedProperties& properties = parts_.properties->user_collected_properties;
    const auto newest = properties.find("rocksdb.timestamp_max");
    if (newest != properties.end() && newest->second.size() == options_.icmp->timestamp_size()) {
      parts_.newest_timestamp = newest->second;
    }
    return Status::OK();
  }
  // Readers show the keys of such a table with the oldest timestamp.
  parts_.newest_timestamp = options_.icmp->user_comparator()->GetMinTimestamp().ToString();
  const Comparator* const bare = ComparatorWithoutTimestamp(options_.icmp->user_comparator());
  if (bare == nullptr) {
    return Status::NotSupported("table without timestamps under comparator " +
                                    std::string(options_.icmp->user_comparator()->Name()),
                                name());
  }
  parts_.family_order = options_.icmp;
  parts_.own_order = std::make_unique<InternalKeyComparator>(bare);
  store().icmp = parts_.own_order.get();
  return Status::OK();
}

Status TableOpener::ReadDictionary() {
  const BlockHandle handle = MetaBlock(meta_block::kCompressionDictionary);
  if (handle.IsNull()) return Status::OK();
  BlockContents contents;
  VARVE_RETURN_IF_ERROR(store().ReadContents(handle, context_, &contents));
  parts_.meta_blocks.push_back(handle);
  store().file.dictionary = contents.data.ToString();
  return Status::OK();
}

// Requires that CheckTraits has set the override sequence number, as it replaces those of
// tombstones, too.
Status TableOpener::ReadTombstones() {
  const BlockHandle handle = MetaBlock(meta_block::kRangeDeletions);
  if (handle.IsNull()) return Status::OK();
  BlockContents contents;
  VARVE_RETURN_IF_ERROR(store().ReadContents(handle, context_, &contents));
  parts_.meta_blocks.push_back(handle);
  const InternalKeyComparator& icmp = *store().icmp;
  std::deque<std::string> keys;  // copies, as the walker's keys live until its next step
  std::vector<FragmentedTombstones::Tombstone> tombstones;
  BlockWalker walk(contents.data);
  while (walk.Next()) {
    ParsedInternalKey begin;
    if (!ParseInternalKey(walk.key(), &begin) || begin.type != kTypeRangeDeletion) {
      return DescribeBadInternalKey(walk.key(), "range deletions of " + name());
    }
    if (std::min(begin.user_key.size(), walk.value().size()) < icmp.timestamp_size()) {
      return Status::Corruption("a range deletion is shorter than its timestamp", name());
    }
    const SequenceNumber seq =
        parts_.override_seq == kMaxSequenceNumber ? begin.sequence : parts_.override_seq;
    keys.push_back(begin.user_key.ToString());
    tombstones.push_back({icmp.WithoutTimestamp(keys.back()), icmp.WithoutTimestamp(walk.value()),
                          seq, icmp.TimestampOf(keys.back())});
  }
  if (!walk.status().ok()) {
    return Status::CopyAppendMessage(walk.status(), ": range deletions of ", name());
  }
  if (!tombstones.empty()) {
    parts_.tombstones = FragmentedTombstones::Build(std::move(tombstones), icmp);
  }
  return Status::OK();
}

// Returns what the tier of MetadataCacheOptions means for this table; `fallback` is what the older
// options mean.
bool TableOpener::IsPinned(PinningTier tier, bool fallback) const {
  switch (tier) {
    case PinningTier::kFallback:
      return fallback;
    case PinningTier::kNone:
      return false;
    case PinningTier::kFlushedAndSimilar:
      return options_.level == 0;
    case PinningTier::kAll:
      return true;
  }
  return fallback;
}

// Decides where index or filter stay: with the reader, in the cache for good, or in the cache like
// other blocks. The tiers of metadata_cache_options decide unless they say kFallback; then the
// older options do.
MetaResidency TableOpener::Residency(bool partitioned) const {
  if (store().cache == nullptr || !options_.table.cache_index_and_filter_blocks) {
    return MetaResidency::kOwned;
  }
  const MetadataCacheOptions& tiers = options_.table.metadata_cache_options;
  const bool pins_level_0 =
      options_.level == 0 && options_.table.pin_l0_filter_and_index_blocks_in_cache;
  const bool pinned = partitioned
                          ? IsPinned(tiers.top_level_index_pinning,
                                     options_.table.pin_top_level_index_and_filter || pins_level_0)
                          : IsPinned(tiers.unpartitioned_pinning, pins_level_0);
  return pinned ? MetaResidency::kPinned : MetaResidency::kCached;
}

bool TableOpener::PinsPartitions() const {
  // Without a cache every access would read the partitions from the file.
  if (parts_.store->cache == nullptr) return true;
  return options_.table.cache_index_and_filter_blocks &&
         IsPinned(options_.table.metadata_cache_options.partition_pinning,
                  options_.level == 0 && options_.table.pin_l0_filter_and_index_blocks_in_cache);
}

Status TableOpener::OpenIndex() {
  IndexReader::Options index;
  index.root = store().file.footer.index;
  // From version 6 on the footer has no handle of the index.
  if (Footer::UsesContext(store().file.footer.format_version)) {
    index.root = MetaBlock(meta_block::kIndex);
  }
  if (index.root.IsNull()) return Status::Corruption("table without an index", name());
  index.two_level = traits_.index_type == BlockBasedTableOptions::kTwoLevelIndexSearch;
  index.residency = Residency(index.two_level);
  index.pin_partitions = PinsPartitions();
  index.high_priority = high_priority();
  // The helper blocks of kHashSearch are not needed, as the search by words is as fast; they are
  // only listed, for VerifyChecksum.
  for (const char* helper : {meta_block::kHashIndexPrefixes, meta_block::kHashIndexMetadata}) {
    const BlockHandle handle = MetaBlock(helper);
    if (!handle.IsNull()) parts_.meta_blocks.push_back(handle);
  }
  return IndexReader::Open(parts_.store.get(), index, context_, &parts_.index);
}

// A filter over prefixes can be used only with the extractor that it was built with, which is known
// by its name. If the filter is of no use here, parts_.unused_filter describes it.
Status TableOpener::OpenFilter() {
  FilterReader::Options filter;
  filter.root = MetaBlock(meta_block::kFullFilter);
  if (filter.root.IsNull()) {
    filter.root = MetaBlock(meta_block::kPartitionedFilter);
    filter.partitioned = true;
  }
  if (filter.root.IsNull()) return Status::OK();
  const SliceTransform* const extractor = options_.prefix_extractor.get();
  const std::string& stored_name = parts_.properties->prefix_extractor_name;
  if (extractor != nullptr && traits_.prefix_filtering &&
      (stored_name == extractor->Name() || stored_name == extractor->GetId())) {
    filter.prefix_extractor = options_.prefix_extractor;
  }
  filter.whole_keys = traits_.whole_key_filtering;
  const bool wanted = !options_.skip_filters && options_.table.filter_policy != nullptr;
  if (!wanted || (!filter.whole_keys && filter.prefix_extractor == nullptr)) {
    parts_.unused_filter = std::move(filter);
    return Status::OK();
  }
  parts_.prefixes_in_filter = filter.prefix_extractor != nullptr;
  filter.residency = Residency(filter.partitioned);
  filter.pin_partitions = PinsPartitions();
  filter.high_priority = high_priority();
  return FilterReader::Open(parts_.store.get(), filter, context_, &parts_.filter);
}

// Follows the steps at the head of this file. The cache is set only after the properties are known,
// because the keys of blocks are made from them.
Status TableOpener::Open(std::unique_ptr<TableReader>* reader) {
  VARVE_RETURN_IF_ERROR(CheckOptions());
  store().icmp = options_.icmp;
  store().statistics = options_.statistics;
  store().checks_cached = options_.check_cached_blocks;
  VARVE_RETURN_IF_ERROR(TakeTail());
  VARVE_RETURN_IF_ERROR(ReadMetaindex());
  VARVE_RETURN_IF_ERROR(ReadProperties());
  VARVE_RETURN_IF_ERROR(CheckTraits());
  if (!options_.past_cache && !options_.table.no_block_cache &&
      options_.table.block_cache != nullptr) {
    store().cache = options_.table.block_cache;
    store().slot_cache = ClockCache::From(store().cache.get());
    store().cache_keys =
        BlockCacheKeyBase::ForTable(*parts_.properties, file_size_, store().cache.get());
  }
  VARVE_RETURN_IF_ERROR(ReadDictionary());
  VARVE_RETURN_IF_ERROR(ReadTombstones());
  VARVE_RETURN_IF_ERROR(OpenIndex());
  VARVE_RETURN_IF_ERROR(OpenFilter());
  // Tables of older writers have no tail_start_offset. Neither number is trusted: if both are
  // missing, or the one taken lies beyond the footer, the footer's offset takes its place.
  const uint64_t tail_start = parts_.properties->tail_start_offset;
  const uint64_t data_size = parts_.properties->data_size;
  const uint64_t limit = store().file.limit;
  parts_.data_end = tail_start != 0 ? tail_start : data_size;
  if (parts_.data_end == 0 || parts_.data_end > limit) parts_.data_end = limit;
  store().preread = Slice();  // tail_ belongs to the caller of Open
  auto result = std::make_unique<BlockTableReader>(std::move(parts_));
  VARVE_RETURN_IF_ERROR(result->ChargeTo(options_.charge));
  *reader = std::move(result);
  return Status::OK();
}

}  // namespace

Status BlockTableReader::Open(const BlockTableOpenOptions& options, const TableTail& tail,
                              std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size,
                              std::unique_ptr<TableReader>* reader) {
  TableOpener opener(options, tail, std::move(file), file_size);
  return opener.Open(reader);
}

Status BlockTableReader::Open(const BlockTableOpenOptions& options,
                              std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size,
                              std::unique_ptr<TableReader>* reader) {
  TableTail tail;
  VARVE_RETURN_IF_ERROR(ReadTableTail(options, *file, file_size, &tail));
  return Open(options, tail, std::move(file), file_size, reader);
}

}  // namespace varve
