// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/reseal.h"

#include <algorithm>

#include "db/wal/log_format.h"
#include "table/format/block_trailer.h"
#include "table/format/footer.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"

namespace varve::testing {

namespace {

constexpr size_t kTrailerBytes = 5;
constexpr size_t kCrcBytes = 4;

}  // namespace

Seals Seals::OfTable(const std::string& bytes) {
  Seals seals;
  seals.table_ = true;
  Footer footer;
  if (!footer.DecodeFrom(Slice(bytes), 0).ok()) return seals;
  seals.checksum_ = footer.checksum;
  seals.context_ = footer.base_context_checksum;
  const size_t limit = bytes.size() - footer.length();
  size_t at = 0;
  for (size_t size = 1; at + size + kTrailerBytes <= limit; size++) {
    if (!BlockTrailerMatches(seals.checksum_, seals.context_, at, bytes.data() + at, size))
      continue;
    seals.pieces_.push_back({at, at + size + 1});
    at += size + kTrailerBytes;
    size = 0;
  }
  return seals;
}

Seals Seals::OfLog(const std::string& bytes) {
  Seals seals;
  size_t at = 0;
  while (at + wal::kHeaderBytes <= bytes.size()) {
    const size_t left = wal::kBlockBytes - at % wal::kBlockBytes;
    if (left < wal::kHeaderBytes) {
      at += left;
      continue;
    }
    const auto type = static_cast<uint8_t>(bytes[at + 6]);
    if (type == wal::kZeroType) break;
    const size_t length = static_cast<unsigned char>(bytes[at + 4]) +
                          256u * static_cast<unsigned char>(bytes[at + 5]);
    const size_t header =
        wal::HasRecyclableHeader(type) ? wal::kRecyclableHeaderBytes : wal::kHeaderBytes;
    if (at + header + length > bytes.size()) break;
    seals.pieces_.push_back({at + 6, at + header + length});
    at += header + length;
  }
  return seals;
}

bool Seals::Reseal(std::string* bytes, size_t at) const {
  const auto after = std::ranges::upper_bound(pieces_, at, {}, &Piece::begin);
  if (after == pieces_.begin() || at >= std::prev(after)->end) return false;
  table_ ? SealBlock(bytes, *std::prev(after)) : SealRecord(bytes, *std::prev(after));
  return true;
}

void Seals::SealBlock(std::string* bytes, const Piece& piece) const {
  const size_t size = piece.end - piece.begin - 1;
  const Slice block(bytes->data() + piece.begin, size);
  const auto type = static_cast<CompressionType>((*bytes)[piece.end - 1]);
  char trailer[kTrailerBytes];
  EncodeBlockTrailer(checksum_, context_, piece.begin, block, type, trailer);
  bytes->replace(piece.begin + size, kTrailerBytes, trailer, kTrailerBytes);
}

void Seals::SealRecord(std::string* bytes, const Piece& piece) {
  const uint32_t crc = crc32c::Value(bytes->data() + piece.begin, piece.end - piece.begin);
  char stored[kCrcBytes];
  EncodeFixed32(stored, crc32c::Mask(crc));
  // The length precedes them, and the checksum precedes the length.
  bytes->replace(piece.begin - 2 - kCrcBytes, kCrcBytes, stored, kCrcBytes);
}

}  // namespace varve::testing
