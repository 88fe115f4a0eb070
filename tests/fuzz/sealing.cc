// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/sealing.h"

#include <algorithm>

#include "db/wal/log_format.h"
#include "table/block/block_walker.h"
#include "table/format/block_trailer.h"
#include "table/format/footer.h"
#include "table/index/index_iterator.h"
#include "table/meta/properties_block.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"

namespace varve::fuzz {

namespace {

class TableSealer {
 public:
  explicit TableSealer(std::string* file) : file_(file) {}

  void Run() {
    if (!footer_.DecodeFrom(*file_, 0).ok()) return;
    Seal(footer_.metaindex);
    BlockWalker walk(Bytes(footer_.metaindex));
    while (walk.Next()) {
      Slice value = walk.value();
      BlockHandle handle;
      if (BlockHandle::DecodeFrom(&value, &handle)) SealNamed(walk.key(), handle);
    }
    if (!footer_.index.IsNull()) SealIndex(footer_.index, 0);
  }

 private:
  void Seal(const BlockHandle& handle) {
    if (!handle.FitsIn(file_->size())) return;
    char* const block = file_->data() + handle.offset;
    char trailer[kBlockTrailerBytes];
    const auto size = static_cast<size_t>(handle.size);
    EncodeBlockTrailer(footer_.checksum, footer_.base_context_checksum, handle.offset,
                       Slice(block, size), BlockCompression(block, size), trailer);
    std::copy_n(trailer, kBlockTrailerBytes, block + size);
  }

  [[nodiscard]] Slice Bytes(const BlockHandle& handle) const {
    if (!handle.FitsIn(file_->size())) return Slice();
    return Slice(file_->data() + handle.offset, static_cast<size_t>(handle.size));
  }

  void SealNamed(const Slice& name, const BlockHandle& handle) {
    Seal(handle);
    if (name == meta_block::kIndex) return SealIndex(handle, 0);
    if (name == meta_block::kPartitionedFilter) return SealIndex(handle, 1);
    if (name != meta_block::kProperties) return;
    TableProperties properties;
    TableTraits traits;
    if (!ParseProperties(Bytes(handle), &properties, &traits).ok()) return;
    form_.user_keys = traits.index_key_is_user_key;
    form_.delta_values = traits.index_value_is_delta_encoded;
    form_.first_keys = traits.index_type == BlockBasedTableOptions::kBinarySearchWithFirstKey;
    two_level_ = traits.index_type == BlockBasedTableOptions::kTwoLevelIndexSearch;
  }

  void SealIndex(const BlockHandle& index, int depth) {
    Seal(index);
    IndexIterator it(Bytes(index), form_);
    for (int blocks = 0; blocks < 1000 && it.Next(); blocks++) {
      Seal(it.handle());
      if (two_level_ && depth == 0) SealIndex(it.handle(), 1);
    }
  }

  std::string* const file_;
  Footer footer_;
  IndexForm form_;
  bool two_level_ = false;
};

}  // namespace

void SealTable(std::string* file) {
  TableSealer(file).Run();
}

void SealLog(std::string* file) {
  size_t at = 0;
  while (at + wal::kHeaderBytes <= file->size()) {
    const size_t block_end =
        std::min<size_t>(at / wal::kBlockBytes * wal::kBlockBytes + wal::kBlockBytes, file->size());
    char* const header = file->data() + at;
    const size_t payload = DecodeFixed16(header + 4);
    const auto type = static_cast<uint8_t>(header[6]);
    const size_t bytes = payload + (wal::HasRecyclableHeader(type) ? wal::kRecyclableHeaderBytes
                                                                   : wal::kHeaderBytes);
    if (bytes > block_end - at || (type == wal::kZeroType && payload == 0)) {
      at = std::max(block_end, at + 1);
      continue;
    }
    EncodeFixed32(header, crc32c::Mask(crc32c::Value(header + 6, bytes - 6)));
    at += bytes;
    if (block_end - at < wal::kHeaderBytes) at = block_end;
  }
}

}  // namespace varve::fuzz
