// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names what is stored at the end of a PlainTable: the footer, and the property of the rows' form.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

inline constexpr uint64_t kPlainTableMagic = 0x8242229663bf9564;
// Magic number of the footer that is written.
inline constexpr uint64_t kLegacyPlainTableMagic = 0x4f3418eb7a8f13b8;

// A file of this size or more cannot be a PlainTable, as offsets of rows have 31 bits.
inline constexpr uint64_t kPlainFileBytesLimit = uint64_t{1} << 31;

// Property with the encoding as fixed 32-bit integer.
inline constexpr char kPlainEncodingProperty[] = "rocksdb.plain.table.encoding.type";

// The position of a block, which no trailer follows.
struct PlainFooter {
  uint64_t metaindex_offset = 0;
  uint64_t metaindex_size = 0;
  uint64_t footer_offset = 0;

  // Parses the footer at the end of `tail`, which is the end of the file and lies at `tail_offset`
  // of it. Corruption: the footer is malformed; no message names the file, and the members are
  // unspecified then.
  Status DecodeFrom(const Slice& tail, uint64_t tail_offset);
  // Appends the footer, in its legacy form. Requires both members of the metaindex.
  void EncodeTo(std::string* dst) const;
};

}  // namespace varve
