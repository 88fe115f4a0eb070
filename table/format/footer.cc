// SPDX-License-Identifier: Apache-2.0

// Writes and reads the footers of all format versions.

#include "table/format/footer.h"

#include <cstring>
#include <string>

#include "table/format/block_trailer.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"

namespace varve {
namespace {

// The layout by version:
//
//   0        metaindex handle, index handle, zeros: 40 bytes | legacy magic 8
//   1 to 5   checksum type 1 | the same 40 bytes            | version 4 | magic 8
//   6, 7     checksum type 1 | extended magic 4, footer checksum 4, context 4,
//                              metaindex size 4, zeros 24   | version 4 | magic 8
// Positions within the 53 bytes of versions 1 and up.
constexpr size_t kVersionAt = 41;
constexpr size_t kMagicAt = 45;
constexpr size_t kHandlesAt = 1;
constexpr size_t kHandlesBytes = 40;
// Positions and values from version 6 on.
constexpr size_t kExtendedMagicAt = 1;
constexpr size_t kFooterChecksumAt = 5;
constexpr size_t kContextAt = 9;
constexpr size_t kMetaindexSizeAt = 13;
constexpr size_t kMustBeZeroAt = 33;
constexpr char kExtendedMagic[4] = {0x3e, 0x00, 0x7a, 0x00};

// The last eight bytes of RocksDB's other table formats.
struct OtherFormat {
  uint64_t magic;
  const char* name;
};
constexpr OtherFormat kOtherFormats[] = {
    {0x8242229663bf9564, "PlainTable"},
    {0x4f3418eb7a8f13b8, "PlainTable"},
    {0x926789d0c5f17873, "CuckooTable"},
};

bool KnownChecksum(char type) {
  return type >= kNoChecksum && type <= kXXH3;
}

// Returns the checksum of a whole footer whose own checksum field is zero.
uint32_t FooterChecksum(ChecksumType type, uint32_t base_context, uint64_t offset,
                        const char* footer) {
  return ComputeBlockChecksum(type, footer, Footer::kBytes - 1, footer[Footer::kBytes - 1]) +
         ChecksumModifier(base_context, offset);
}

Status BadFooter(const std::string& what, uint64_t offset) {
  return Status::Corruption("table footer at offset " + std::to_string(offset), what);
}

}  // namespace

void Footer::EncodeTo(uint64_t footer_offset, std::string* dst) const {
  char buf[kBytes] = {};
  if (format_version == 0) {
    index.EncodeTo(metaindex.EncodeTo(buf));
    EncodeFixed64(buf + kHandlesBytes, kLegacyTableMagic);
    dst->append(buf, kLegacyBytes);
    return;
  }
  buf[0] = static_cast<char>(checksum);
  EncodeFixed32(buf + kVersionAt, format_version);
  EncodeFixed64(buf + kMagicAt, kTableMagic);
  if (UsesContext(format_version)) {
    EncodeVersion6(footer_offset, buf);
  } else {
    index.EncodeTo(metaindex.EncodeTo(buf + kHandlesAt));
  }
  dst->append(buf, kBytes);
}

// The checksum comes last, over everything else, while its own field is zero.
void Footer::EncodeVersion6(uint64_t footer_offset, char* dst) const {
  std::memcpy(dst + kExtendedMagicAt, kExtendedMagic, sizeof(kExtendedMagic));
  EncodeFixed32(dst + kContextAt, base_context_checksum);
  EncodeFixed32(dst + kMetaindexSizeAt, static_cast<uint32_t>(metaindex.size));
  EncodeFixed32(dst + kFooterChecksumAt,
                FooterChecksum(checksum, base_context_checksum, footer_offset, dst));
}

// The magic number says which of the layouts precedes it. A file with another number is a table of
// another format, if the number is in kOtherFormats, or no table.
Status Footer::DecodeFrom(const Slice& tail, uint64_t tail_offset) {
  *this = Footer();
  if (tail.size() < kLegacyBytes) {
    return BadFooter("file too short to be a table: " + std::to_string(tail.size()) + " bytes",
                     tail_offset);
  }
  const char* const end = tail.data() + tail.size();
  const uint64_t magic = DecodeFixed64(end - sizeof(uint64_t));
  if (magic == kLegacyTableMagic) {
    format_version = 0;
    checksum = kCRC32c;
    return DecodeHandles(end - kLegacyBytes, tail_offset + tail.size() - kLegacyBytes);
  }
  for (const OtherFormat& other : kOtherFormats) {
    if (magic != other.magic) continue;
    return Status::NotSupported("table of format " + std::string(other.name),
                                "only block-based tables and PlainTables can be read");
  }
  if (magic != kTableMagic) {
    return BadFooter("bad magic number: not a table, or cut off", tail_offset);
  }
  if (tail.size() < kBytes) return BadFooter("file too short for its footer", tail_offset);

  const char* const start = end - kBytes;
  const uint64_t offset = tail_offset + tail.size() - kBytes;
  format_version = DecodeFixed32(start + kVersionAt);
  if (format_version == 0) return BadFooter("format_version 0 with a later magic number", offset);
  if (format_version > kLatestVersion) return RefuseVersion(start, offset);
  if (!KnownChecksum(start[0])) {
    return BadFooter(
        "unknown checksum type " + std::to_string(static_cast<unsigned char>(start[0])), offset);
  }
  checksum = static_cast<ChecksumType>(start[0]);
  if (UsesContext(format_version)) return DecodeVersion6(start, offset);
  return DecodeHandles(start + kHandlesAt, offset);
}

// Returns the error for an unknown version. Later versions begin as version 6 does, and their
// checksum covers the version, too: a footer with another beginning or checksum is an older one
// with a flipped bit.
Status Footer::RefuseVersion(const char* start, uint64_t footer_offset) {
  const std::string version = std::to_string(format_version);
  if (KnownChecksum(start[0])) checksum = static_cast<ChecksumType>(start[0]);
  if (!KnownChecksum(start[0]) || !CheckVersion6(start, footer_offset).ok()) {
    return BadFooter("is damaged: it says format_version " + version, footer_offset);
  }
  return Status::NotSupported("table of format_version " + version,
                              "the latest that can be read is " + std::to_string(kLatestVersion));
}

// Uses `checksum`, which must have been set, and compares in a copy, whose checksum field is zeroed
// as it was when the checksum was computed.
Status Footer::CheckVersion6(const char* start, uint64_t footer_offset) const {
  if (std::memcmp(start + kExtendedMagicAt, kExtendedMagic, sizeof(kExtendedMagic)) != 0) {
    return BadFooter("bad extended magic number", footer_offset);
  }
  const uint32_t base_context = DecodeFixed32(start + kContextAt);
  char copy[kBytes];
  std::memcpy(copy, start, kBytes);
  EncodeFixed32(copy + kFooterChecksumAt, 0);
  const uint32_t expected = FooterChecksum(checksum, base_context, footer_offset, copy);
  if (checksum != kNoChecksum && DecodeFixed32(start + kFooterChecksumAt) != expected) {
    return BadFooter("checksum mismatch of the footer", footer_offset);
  }
  return Status::OK();
}

Status Footer::DecodeVersion6(const char* start, uint64_t footer_offset) {
  VARVE_RETURN_IF_ERROR(CheckVersion6(start, footer_offset));
  base_context_checksum = DecodeFixed32(start + kContextAt);
  // Later writers may put something here that an older reader must not overlook.
  if (DecodeFixed64(start + kMustBeZeroAt) != 0) {
    return Status::NotSupported("table footer at offset " + std::to_string(footer_offset),
                                "uses a feature that is not known");
  }
  metaindex.size = DecodeFixed32(start + kMetaindexSizeAt);
  if (metaindex.size + kBlockTrailerBytes > footer_offset) {
    return BadFooter("metaindex larger than what lies before the footer", footer_offset);
  }
  metaindex.offset = footer_offset - kBlockTrailerBytes - metaindex.size;
  return Status::OK();
}

Status Footer::DecodeHandles(const char* start, uint64_t footer_offset) {
  Slice input(start, kHandlesBytes);
  if (!BlockHandle::DecodeFrom(&input, &metaindex) || !BlockHandle::DecodeFrom(&input, &index)) {
    return BadFooter("bad block handle", footer_offset);
  }
  if (!metaindex.FitsIn(footer_offset) || !index.FitsIn(footer_offset)) {
    return BadFooter("a block handle points beyond the footer", footer_offset);
  }
  return Status::OK();
}

}  // namespace varve
