// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names what is stored at the end of a PlainTable: the footer, and the property of the rows' form.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

// The last eight bytes of a file name the form of its footer. Both forms are read, and the legacy
// one is written.
inline constexpr uint64_t kPlainTableMagic = 0x8242229663bf9564;
inline constexpr uint64_t kLegacyPlainTableMagic = 0x4f3418eb7a8f13b8;

// A file of this size or more cannot be a PlainTable: RocksDB's readers keep the offsets of rows in
// 31 bits.
inline constexpr uint64_t kPlainFileBytesLimit = uint64_t{1} << 31;

// Name of the property that has the table's EncodingType (varve/table.h), as a fixed32.
inline constexpr char kPlainEncodingProperty[] = "rocksdb.plain.table.encoding.type";

// Says where in the file, in bytes, the metaindex block lies, which names all other blocks. It has
// no trailer: nothing in a PlainTable has a checksum.
struct PlainFooter {
  uint64_t metaindex_offset = 0;
  uint64_t metaindex_size = 0;
  uint64_t footer_offset = 0;  // set by DecodeFrom; the footer reaches to the end of the file

  // Parses the footer at the end of `tail`, which is the end of the file and lies at `tail_offset`
  // of it. Corruption: the footer is malformed; no message names the file, and the members are
  // unspecified then.
  Status DecodeFrom(const Slice& tail, uint64_t tail_offset);
  // Appends the footer, in its legacy form, which needs the two members of the metaindex only.
  void EncodeTo(std::string* dst) const;
};

}  // namespace varve
