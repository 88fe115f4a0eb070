// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes the last bytes of a table file: format version, checksum type, and the position
// of the metaindex.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/table.h"

#include "table/format/block_handle.h"

namespace varve {

// The last eight bytes of a block-based table of format version 1 or later.
inline constexpr uint64_t kTableMagic = 0x88e241b785f4cff7;
// Magic number of LevelDB's files and of format version 0.
inline constexpr uint64_t kLegacyTableMagic = 0xdb4775248b80fb57;

// The last bytes of a table: what is needed to find and to check everything else.
struct Footer {
  static constexpr size_t kLegacyBytes = 48;  // version 0
  static constexpr size_t kBytes = 53;        // versions 1 and up
  static constexpr size_t kMaxBytes = kBytes;
  static constexpr uint32_t kLatestVersion = 7;

  uint32_t format_version = 5;
  ChecksumType checksum = kXXH3;
  BlockHandle metaindex;
  // Null from version 6 on: then the metaindex has the handle under "rocksdb.index".
  BlockHandle index;
  // Base of ChecksumModifier; 0 before version 6.
  uint32_t base_context_checksum = 0;

  [[nodiscard]] size_t length() const { return format_version == 0 ? kLegacyBytes : kBytes; }

  // True if blocks of this version have context checksums and the metaindex has the index handle.
  [[nodiscard]] static constexpr bool UsesContext(uint32_t version) { return version >= 6; }

  // Appends the footer, which will lie at `footer_offset` of the file. From version 6 on, requires
  // that the metaindex block ends there and is smaller than 4 GiB.
  void EncodeTo(uint64_t footer_offset, std::string* dst) const;

  // Parses the footer at the end of `tail`, which is the end of the file and lies at `tail_offset`
  // of it; the last kMaxBytes suffice. Checks that both handles lie before the footer.
  //
  // Corruption: there is no valid footer. NotSupported: the footer is valid, but its format version
  // is a later one or it uses an unknown feature; or the table has another format, which the
  // message names. No message names the file. After an error the members are unspecified.
  Status DecodeFrom(const Slice& tail, uint64_t tail_offset);

 private:
  // Returns the error for a version that this code does not know, which format_version has:
  // NotSupported, or Corruption if the footer is damaged. Never returns OK.
  Status RefuseVersion(const char* start, uint64_t footer_offset);
  // From version 6 on the footer has a checksum of its own, and no handles: the metaindex block
  // ends at the footer, which has its size, and the metaindex has the index's handle. CheckVersion6
  // checks the checksum and the magic number beside it.
  Status CheckVersion6(const char* start, uint64_t footer_offset) const;
  void EncodeVersion6(uint64_t footer_offset, char* dst) const;
  Status DecodeVersion6(const char* start, uint64_t footer_offset);
  // Parses the two handles of a version below 6, which begin at `start`.
  Status DecodeHandles(const char* start, uint64_t footer_offset);
};

}  // namespace varve
