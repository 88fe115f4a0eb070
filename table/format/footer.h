// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last bytes of a table file: format version, checksum type, and where the metaindex is.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/table.h"

#include "table/format/block_handle.h"

namespace varve {

class RandomAccessFileReader;

inline constexpr uint64_t kTableMagic = 0x88e241b785f4cff7;
// Files of LevelDB, and of format version 0.
inline constexpr uint64_t kLegacyTableMagic = 0xdb4775248b80fb57;

struct Footer {
  static constexpr size_t kLegacyBytes = 48;  // version 0
  static constexpr size_t kBytes = 53;        // versions 1 and up
  static constexpr size_t kMaxBytes = kBytes;
  static constexpr uint32_t kLatestVersion = 7;

  uint32_t format_version = 5;
  ChecksumType checksum = kXXH3;
  BlockHandle metaindex;
  // Null from version 6 on: the metaindex then has it under "rocksdb.index".
  BlockHandle index;
  // Of ChecksumModifier; 0 before version 6.
  uint32_t base_context_checksum = 0;

  [[nodiscard]] size_t length() const { return format_version == 0 ? kLegacyBytes : kBytes; }

  // Blocks of these versions carry context checksums, and their index is found by the metaindex.
  [[nodiscard]] static constexpr bool UsesContext(uint32_t version) { return version >= 6; }

  // Appends the footer, which will lie at `footer_offset` of the file. From version 6 on, the
  // metaindex block must end there and be smaller than 4 GiB.
  void EncodeTo(uint64_t footer_offset, std::string* dst) const;

  // `tail` is the end of the file, and lies at `tail_offset` of it; the last kMaxBytes suffice.
  // Both handles have been checked to lie before the footer.
  //
  // Errors: Corruption for anything that is no footer; NotSupported for a later format version, of
  // which everything else is as it should be, and for a table of another format, which it names.
  // No message names the file.
  Status DecodeFrom(const Slice& tail, uint64_t tail_offset);

 private:
  Status RefuseVersion(const char* start, uint64_t footer_offset);
  Status CheckVersion6(const char* start, uint64_t footer_offset) const;
  void EncodeVersion6(uint64_t footer_offset, char* dst) const;
  Status DecodeVersion6(const char* start, uint64_t footer_offset);
  Status DecodeHandles(const char* start, uint64_t footer_offset);
};

// Whether a file of that size ends as a table that can be read does: DecodeFrom's errors, with the
// file's name. Reads that end and nothing else.
Status CheckFooter(const RandomAccessFileReader& file, uint64_t file_size);

}  // namespace varve
