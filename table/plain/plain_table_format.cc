// SPDX-License-Identifier: Apache-2.0
#include "table/plain/plain_table_format.h"

#include "table/format/block_handle.h"
#include "util/coding/fixed.h"

namespace varve {

namespace {

constexpr size_t kMagicBytes = 8;
constexpr size_t kHandlesBytes = 40;
constexpr size_t kLegacyFooterBytes = kHandlesBytes + kMagicBytes;
// The later form has the type of checksums before the handles, and a version after them.
constexpr size_t kVersionBytes = 4;
constexpr size_t kFooterBytes = 1 + kHandlesBytes + kVersionBytes + kMagicBytes;

}  // namespace

// The two forms, from the front, with a null handle (0, 0) where block-based tables have the index:
//
//   legacy   metaindex handle, null handle, zeros up to 40 bytes | magic, 8 bytes
//   later    checksum type, 1 byte | the 40 bytes | version, 4 | magic, 8
//
// Type and version say nothing that reading a PlainTable needs.
Status PlainFooter::DecodeFrom(const Slice& tail, uint64_t tail_offset) {
  const auto bad = [&](const char* what) {
    return Status::Corruption(
        "footer of a PlainTable at offset " + std::to_string(tail_offset + tail.size()), what);
  };
  if (tail.size() < kLegacyFooterBytes) return bad("the file is too short");
  const uint64_t magic = DecodeFixed64(tail.data() + tail.size() - kMagicBytes);
  const bool legacy = magic == kLegacyPlainTableMagic;
  if (!legacy && magic != kPlainTableMagic) return bad("bad magic number");
  const size_t bytes = legacy ? kLegacyFooterBytes : kFooterBytes;
  if (tail.size() < bytes) return bad("the file is too short");
  const char* const start = tail.data() + tail.size() - bytes;
  footer_offset = tail_offset + tail.size() - bytes;
  Slice handles(start + (legacy ? 0 : 1), kHandlesBytes);
  BlockHandle metaindex;
  if (!BlockHandle::DecodeFrom(&handles, &metaindex)) return bad("bad block handle");
  if (metaindex.size > footer_offset || metaindex.offset > footer_offset - metaindex.size) {
    return bad("the metaindex reaches beyond the footer");
  }
  metaindex_offset = metaindex.offset;
  metaindex_size = metaindex.size;
  return Status::OK();
}

void PlainFooter::EncodeTo(std::string* dst) const {
  std::string handles;
  BlockHandle{metaindex_offset, metaindex_size}.EncodeTo(&handles);
  BlockHandle().EncodeTo(&handles);
  handles.resize(kHandlesBytes);
  dst->append(handles);
  PutFixed64(dst, kLegacyPlainTableMagic);
}

}  // namespace varve
