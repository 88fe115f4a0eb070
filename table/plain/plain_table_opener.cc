// SPDX-License-Identifier: Apache-2.0

// Opens a PlainTable: reads footer and properties, then walks over all rows, which checks them and
// builds the index and the filter.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "varve/comparator.h"

#include "table/block/block_walker.h"
#include "table/filter/bloom_design.h"
#include "table/format/block_handle.h"
#include "table/meta/properties_block.h"
#include "table/plain/plain_table_format.h"
#include "table/plain/plain_table_reader.h"
#include "table/reader/table_facts.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/coding/hash.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// One opening: fills in parts_ step by step; Open has the order of the steps.
class PlainTableOpener {
 public:
  PlainTableOpener(const PlainTableOpenOptions& options, const TableTail& tail,
                   std::unique_ptr<RandomAccessFileReader> file)
      : options_(options), tail_(tail), parts_(std::make_unique<PlainTableParts>()) {
    parts_->file = std::move(file);
    parts_->name = options.file_name.empty() ? parts_->file->file_name() : options.file_name;
    parts_->icmp = options.icmp;
    parts_->statistics = options.statistics;
  }

  Status Open(std::unique_ptr<TableReader>* reader);

 private:
  Status ReadProperties();
  Status TakeForm();
  // Sets parts_->mapped if the file is mapped. Requires that ReadProperties has found data_end.
  Status MapRows();
  // Checks all rows, and builds the index and the hashes for the filter. Requires that TakeForm and
  // MapRows were called.
  Status TakeRows();
  void AddToIndex(const PlainRowCursor& row, const std::string& key);
  // Keeps the hash of a row's key, unless the row is another version of the last row's key. Clears
  // maps_keys_ once the map would be too large.
  void AddHash(const PlainRowCursor& row, const Slice& last);
  // Returns the largest size of the map of keys: a share of the file.
  [[nodiscard]] uint64_t MapBytesMost() const;
  // True if rows can be read from any offset, and keys are equal only if their bytes are.
  [[nodiscard]] bool CanMapKeys() const;
  // Builds the map of keys from the hashes, if maps_keys_ is still set.
  void MapKeys();
  // Builds the filter from the hashes, if it is wanted and the map of keys does not replace it.
  void MakeFilter();

  // Sets *block to a part of the file's end, which mostly is in the tail already, and is read to
  // *buffer otherwise. Requires that `handle` lies within the file, which bounds the memory:
  // PlainFooter::DecodeFrom and ReadProperties have checked that.
  Status ReadBlock(const BlockHandle& handle, std::string* buffer, Slice* block) const;
  [[nodiscard]] Status Corrupt(const std::string& what) const {
    return Status::Corruption(what, parts_->name);
  }
  // Distance of indexed rows.
  [[nodiscard]] size_t sparseness() const {
    constexpr size_t kDefault = 16;
    constexpr size_t kMost = 256;
    const size_t wish = options_.table.index_sparseness;
    return wish == 0 ? kDefault : std::min(wish, kMost);
  }

  const PlainTableOpenOptions& options_;
  const TableTail& tail_;
  std::unique_ptr<PlainTableParts> parts_;
  PlainFooter footer_;
  TableTraits traits_;
  size_t rows_since_indexed_ = 0;  // counts the indexed row, too
  uint64_t indexed_key_bytes_ = 0;
  bool maps_keys_ = false;           // true if the offsets of keys are kept for their map
  FilterHashes hashes_;              // of the keys, in their order
  PlainKeyMap::Offsets first_rows_;  // of the same keys, if they are to be mapped
};

Status PlainTableOpener::ReadBlock(const BlockHandle& handle, std::string* buffer,
                                   Slice* block) const {
  const size_t n = static_cast<size_t>(handle.size);
  if (handle.offset >= tail_.offset) {
    *block = Slice(tail_.bytes.data() + (handle.offset - tail_.offset), n);
    return Status::OK();
  }
  buffer->resize(n);
  return parts_->file->Read(handle.offset, n, block, buffer->data());
}

// Footer, metaindex, properties: each names the place of the next, and each place is checked
// against the one that was read before. Nothing has a checksum, so the checks of form are all there
// is.
Status PlainTableOpener::ReadProperties() {
  if (const Status s = footer_.DecodeFrom(tail_.bytes, tail_.offset); !s.ok()) {
    RecordTick(options_.statistics, SST_FOOTER_CORRUPTION_COUNT);
    return Status::CopyAppendMessage(s, ": ", parts_->name);
  }
  std::string buffer;
  Slice block;
  VARVE_RETURN_IF_ERROR(
      ReadBlock({footer_.metaindex_offset, footer_.metaindex_size}, &buffer, &block));
  BlockHandle properties;
  BlockWalker walk(block);
  while (walk.Next()) {
    if (walk.key() != Slice(meta_block::kProperties)) continue;
    Slice value = walk.value();
    if (!BlockHandle::DecodeFrom(&value, &properties))
      return Corrupt("bad handle in the metaindex");
  }
  if (!walk.status().ok()) {
    return Status::CopyAppendMessage(walk.status(), ": metaindex of ", parts_->name);
  }
  const uint64_t limit = footer_.metaindex_offset;
  if (properties.IsNull()) return Corrupt("PlainTable without properties");
  if (properties.size > limit || properties.offset > limit - properties.size) {
    return Corrupt("the properties reach beyond the metaindex");
  }
  std::string properties_buffer;
  VARVE_RETURN_IF_ERROR(ReadBlock(properties, &properties_buffer, &block));
  auto parsed = std::make_shared<TableProperties>();
  const Status s = ParseProperties(block, parsed.get(), &traits_);
  if (!s.ok()) return Status::CopyAppendMessage(s, ": properties of ", parts_->name);
  if (parsed->data_size > properties.offset) return Corrupt("the rows reach into the properties");
  // Makes an offset in the block one in the file.
  if (parsed->external_sst_file_global_seqno_offset != 0) {
    parsed->external_sst_file_global_seqno_offset += properties.offset;
  }
  parts_->data_end = parsed->data_size;
  parts_->properties = std::move(parsed);
  return Status::OK();
}

// Takes from the properties how rows are to be decoded, and refuses a table that is not the
// MANIFEST's, or whose form is not known.
Status PlainTableOpener::TakeForm() {
  const TableProperties& properties = *parts_->properties;
  VARVE_RETURN_IF_ERROR(CheckTableIdentity(properties, options_, parts_->name));
  VARVE_RETURN_IF_ERROR(
      FindOverrideSequence(traits_, options_, parts_->name, &parts_->override_seq));
  if (options_.icmp->timestamp_size() != 0) {
    return Status::NotSupported("PlainTable under a comparator with timestamps", parts_->name);
  }
  if (properties.fixed_key_len > UINT32_MAX) return Corrupt("length of keys out of range");
  parts_->form.key_bytes = static_cast<uint32_t>(properties.fixed_key_len);
  const auto& others = properties.user_collected_properties;
  const auto encoding = others.find(kPlainEncodingProperty);
  // Tables of the first versions have no such property; their encoding is kPlain.
  if (encoding == others.end()) return Status::OK();
  const uint32_t number = encoding->second.size() == sizeof(uint32_t)
                              ? DecodeFixed32(encoding->second.data())
                              : UINT32_MAX;
  if (number > kPrefix) return Corrupt("PlainTable of unknown encoding");
  parts_->form.encoding = static_cast<EncodingType>(number);
  return Status::OK();
}

Status PlainTableOpener::MapRows() {
  if (!tail_.mapped || parts_->data_end == 0) return Status::OK();
  // The scratch stays untouched, and takes no memory, where the file is really mapped.
  // ReadProperties has checked that data_end lies within the file.
  const auto n = static_cast<size_t>(parts_->data_end);
  const std::unique_ptr<char[]> scratch(new char[n]);
  Slice rows;
  VARVE_RETURN_IF_ERROR(parts_->file->Read(0, n, &rows, scratch.get()));
  if (rows.data() != scratch.get()) parts_->mapped = rows;
  return Status::OK();
}

// Indexes the first row, and then a row as soon as sparseness() rows have passed since the last
// indexed one and the row can be decoded from its own beginning.
void PlainTableOpener::AddToIndex(const PlainRowCursor& row, const std::string& key) {
  // Keys that are kept take no more than a share of the file, whatever they share with each other.
  constexpr uint64_t kFreeBytes = 64 * 1024;
  const bool is_first = parts_->index.size() == 0;
  const bool due = is_first || rows_since_indexed_ >= sparseness();
  rows_since_indexed_++;
  if (!due || !row.starts_alone()) return;
  if (!is_first && indexed_key_bytes_ + key.size() > kFreeBytes + row.row_offset() / 2) return;
  parts_->index.Add(key, row.shared_part().size(), row.row_offset());
  indexed_key_bytes_ += key.size();
  rows_since_indexed_ = 1;
}

bool PlainTableOpener::CanMapKeys() const {
  return !parts_->mapped.empty() && parts_->form.encoding == kPlain &&
         BytesDecide(options_.icmp->order());
}

// Versions of a key follow each other. Of different keys with one hash each is kept, as the map
// must have all of them.
void PlainTableOpener::AddHash(const PlainRowCursor& row, const Slice& last) {
  const uint64_t hash = FilterHash(row.user_key());
  const bool alike = !hashes_.empty() && hashes_.back() == hash;
  if (alike && ExtractUserKey(last) == row.user_key()) return;
  hashes_.push_back(hash);
  if (!maps_keys_) return;
  first_rows_.push_back(static_cast<uint32_t>(row.row_offset()));
  if (PlainKeyMap::BytesFor(hashes_.size()) <= MapBytesMost()) return;
  // The map of even more keys would be refused as well, so nothing is collected for it any more.
  maps_keys_ = false;
  PlainKeyMap::Offsets().swap(first_rows_);
  if (!parts_->filters) FilterHashes().swap(hashes_);
}

// Tiny rows are found by the index, as the map would take as much memory as they do.
uint64_t PlainTableOpener::MapBytesMost() const {
  constexpr uint64_t kFreeBytes = 64 * 1024;
  return kFreeBytes + parts_->data_end / 2;
}

// Reads the whole table once. The time of opening is linear in its size; in exchange no later read
// meets a row that was not checked, unless the file changes.
Status PlainTableOpener::TakeRows() {
  parts_->filters = options_.table.bloom_bits_per_key > 0 && !options_.skip_filters;
  std::string last;
  std::string key;
  uint64_t rows = 0;
  // Backups and restores open tables for their properties alone, without the family's comparator.
  const std::string& order = parts_->properties->comparator_name;
  const bool knows_order = order.empty() || order == options_.icmp->user_comparator()->Name();
  maps_keys_ = knows_order && CanMapKeys();
  PlainRowScan scan(*parts_, ReadOptions());
  while (scan.Next()) {
    const PlainRowCursor& row = scan.row();
    key.assign(row.user_key().data(), row.user_key().size());
    PutFixed64(&key, row.trailer());
    if (knows_order && rows != 0 && options_.icmp->Compare(last, key) >= 0) {
      return MalformedPlainRow(*parts_, "rows are not in order", row.row_offset());
    }
    rows++;
    AddToIndex(row, key);
    if (parts_->filters || maps_keys_) AddHash(row, last);
    last.swap(key);
  }
  VARVE_RETURN_IF_ERROR(scan.status());
  const uint64_t said = parts_->properties->num_entries;
  if (said != rows) {
    return Corrupt("PlainTable has " + std::to_string(rows) + " rows, and its properties say " +
                   std::to_string(said));
  }
  parts_->index.Finish(*options_.icmp, parts_->data_end);
  return Status::OK();
}

void PlainTableOpener::MapKeys() {
  if (maps_keys_) parts_->keys.Build(hashes_, first_rows_);
}

void PlainTableOpener::MakeFilter() {
  if (hashes_.empty()) parts_->filters = false;
  if (!parts_->filters || parts_->keys.built()) return;
  constexpr int kBitsMost = 100;
  const BloomDesign design(1000 * std::min(options_.table.bloom_bits_per_key, kBitsMost));
  BuildFastLocalBloom(hashes_, design, &parts_->filter_block);
  parts_->filter = FilterBits::Parse(parts_->filter_block);
}

// After an error the parts, and the file with them, go with this object, and *reader is unchanged.
Status PlainTableOpener::Open(std::unique_ptr<TableReader>* reader) {
  VARVE_RETURN_IF_ERROR(ReadProperties());
  if (footer_.footer_offset >= kPlainFileBytesLimit) {
    return Status::NotSupported("PlainTable of 2 GiB or more", parts_->name);
  }
  VARVE_RETURN_IF_ERROR(TakeForm());
  // Before the rows are taken, so that the index and later reads use one mapping.
  VARVE_RETURN_IF_ERROR(MapRows());
  VARVE_RETURN_IF_ERROR(TakeRows());
  MapKeys();
  MakeFilter();
  auto result = std::make_unique<PlainTableReader>(std::move(parts_));
  VARVE_RETURN_IF_ERROR(result->ChargeTo(options_.charge));
  *reader = std::move(result);
  return Status::OK();
}

}  // namespace

Status PlainTableReader::Open(const PlainTableOpenOptions& options, const TableTail& tail,
                              std::unique_ptr<RandomAccessFileReader> file, uint64_t /*file_size*/,
                              std::unique_ptr<TableReader>* reader) {
  return PlainTableOpener(options, tail, std::move(file)).Open(reader);
}

}  // namespace varve
