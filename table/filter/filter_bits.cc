// SPDX-License-Identifier: Apache-2.0

// Parses and probes filter blocks; builds Bloom filters.

#include "table/filter/filter_bits.h"

#include <algorithm>
#include <bit>

#include "util/base/assert.h"
#include "util/coding/fixed.h"

namespace varve {
namespace {

constexpr unsigned char kNewFamilyMarker = 0xff;
constexpr int kMaxProbes = 30;

constexpr uint32_t RotateRight(uint32_t value, int bits) {
  return std::rotr(value, bits);
}

// Loads one column of one block of a Ribbon filter: kRibbonSegmentBytes bytes.
RibbonWord LoadSegment(const char* p) {
  return RibbonWord{DecodeFixed64(p + 8)} << 64 | DecodeFixed64(p);
}

// Returns the offset of the line that a hash selects: its low half, scaled to the number of lines.
size_t LineOffset(uint64_t hash, uint64_t lines) {
  return static_cast<size_t>((hash & 0xffffffff) * lines >> 32) * kFilterLineBytes;
}

}  // namespace

// The byte after the bits says which family a filter is of: a marker, or, in the legacy form, the
// number of probes. A filter whose metadata make no sense keeps the kind that matches always.
FilterBits FilterBits::Parse(const Slice& block) {
  FilterBits filter;
  if (block.size() <= kFilterMetadataBytes) {
    filter.kind_ = FilterKind::kNeverMatches;
    return filter;
  }
  filter.data_ = block.data();
  filter.bytes_ = block.size() - kFilterMetadataBytes;
  const char* const meta = block.data() + filter.bytes_;
  const auto byte = [meta](size_t i) { return static_cast<unsigned char>(meta[i]); };

  if (byte(0) == kNewFamilyMarker) {
    // The marker is followed by 0, the number of probes, 0, 0; other values mean unknown forms.
    filter.probes_ = byte(2);
    const bool known = byte(1) == 0 && byte(3) == 0 && byte(4) == 0 && filter.probes_ >= 1 &&
                       filter.probes_ <= kMaxProbes;
    filter.lines_ = filter.bytes_ / kFilterLineBytes;
    if (known && filter.lines_ > 0 && filter.bytes_ <= kBloomBytesMax) {
      filter.kind_ = FilterKind::kFastLocalBloom;
      filter.by_vector_ = filter.probes_ <= kVectorProbes && HasVectorProbe();
    }
  } else if (byte(0) == kRibbonMarker) {
    // The marker is followed by the seed number, and the number of blocks in three bytes.
    const uint64_t blocks = byte(2) | uint64_t{byte(3)} << 8 | uint64_t{byte(4)} << 16;
    const uint64_t segments = filter.bytes_ / kRibbonSegmentBytes;
    // There must be a segment for each block, or some would have no columns. A filter of one block
    // is never written.
    if (blocks > 1 && segments >= blocks) {
      filter.ribbon_hasher_ = RibbonHasher(byte(1), blocks);
      filter.ribbon_layout_ = RibbonLayout(blocks, segments);
      filter.kind_ = FilterKind::kRibbon;
    }
  } else if (byte(0) >= 1 && byte(0) <= 0x7f) {
    filter.probes_ = byte(0);
    filter.lines_ = DecodeFixed32(meta + 1);
    const bool divides = filter.lines_ > 0 && filter.bytes_ % filter.lines_ == 0;
    const uint64_t line_bytes = divides ? filter.bytes_ / filter.lines_ : 0;
    // Probes reach up to byte 63 of a line, or less in files from machines with smaller lines.
    if (std::has_single_bit(line_bytes) && line_bytes >= 16 && line_bytes <= 512) {
      filter.line_bytes_ = static_cast<uint32_t>(line_bytes);
      filter.kind_ = FilterKind::kLegacyBloom;
    }
  }
  return filter;
}

const char* FilterBits::LineOfOther(uint64_t hash) const {
  if (kind_ == FilterKind::kLegacyBloom) {
    return data_ + (static_cast<uint32_t>(hash) % lines_) * line_bytes_;
  }
  return nullptr;
}

bool FilterBits::MayMatchOther(uint64_t hash) const {
  switch (kind_) {
    case FilterKind::kNeverMatches:
      return false;
    case FilterKind::kLegacyBloom:
      return LegacyMatches(static_cast<uint32_t>(hash));
    case FilterKind::kRibbon:
      return RibbonMatches(hash);
    case FilterKind::kAlwaysMatches:
    case FilterKind::kFastLocalBloom:
      break;
  }
  return true;
}

// Tests the bits that BuildLegacyBloom sets. The rotation by 17 is part of the format.
bool FilterBits::LegacyMatches(uint32_t hash) const {
  const char* const line = data_ + (hash % lines_) * line_bytes_;
  const uint32_t mask = line_bytes_ * 8 - 1;
  const uint32_t delta = RotateRight(hash, 17);
  for (int i = 0; i < probes_; i++, hash += delta) {
    const uint32_t bit = hash & mask;
    if ((static_cast<unsigned char>(line[bit >> 3]) >> (bit & 7) & 1) == 0) return false;
  }
  return true;
}

// An equation that begins at bit `bit` of a block's segments goes on in the segments of the next
// block, which lie `used` segments further on. All columns must agree with the result.
bool FilterBits::RibbonMatches(uint64_t key_hash) const {
  const RibbonEquation equation = ribbon_hasher_.EquationOf(key_hash);
  const uint64_t block = equation.start / kRibbonWidth;
  VARVE_ASSERT(block < ribbon_layout_.blocks());
  const auto bit = static_cast<int>(equation.start % kRibbonWidth);
  const uint64_t used = ribbon_layout_.ColumnsOf(block);
  const char* const first = data_ + ribbon_layout_.FirstSegment(block) * kRibbonSegmentBytes;
  // An equation can start in the last block only at bit 0, so nothing after that block is read.
  for (uint64_t i = 0; i < std::min(used, kRibbonColumnsMax); i++) {
    const char* const segment = first + i * kRibbonSegmentBytes;
    RibbonWord sum = LoadSegment(segment) & (equation.coefficients << bit);
    if (bit != 0) {
      sum ^= LoadSegment(segment + used * kRibbonSegmentBytes) &
             (equation.coefficients >> (static_cast<int>(kRibbonWidth) - bit));
    }
    if (RibbonParity(sum) != (equation.result >> i & 1)) return false;
  }
  return true;
}

// The low half of a hash selects the line, and the high half the bits in it. The metadata are as
// Parse reads them.
void BuildFastLocalBloom(const FilterHashes& hashes, const BloomDesign& design,
                         std::string* block) {
  block->assign(design.Bytes(hashes.size()), '\0');
  const size_t bytes = block->size() - kFilterMetadataBytes;
  VARVE_ASSERT(bytes % kFilterLineBytes == 0);
  const int probes = design.probes();
  VARVE_ASSERT(probes >= 1 && probes <= kMaxProbes);
  char* const data = block->data();
  const uint64_t lines = bytes / kFilterLineBytes;
  ForEachPrefetched(
      hashes, [=](uint64_t hash) { return data + LineOffset(hash, lines); },
      [=](uint64_t hash) {
        SetInLine(data + LineOffset(hash, lines), static_cast<uint32_t>(hash >> 32), probes);
        return true;
      });
  data[bytes] = static_cast<char>(kNewFamilyMarker);
  data[bytes + 2] = static_cast<char>(probes);
}

// A key sets its bits in the one line that its hash selects: from one probe to the next the hash
// grows by itself rotated.
void BuildLegacyBloom(const FilterHashes& hashes, int bits_per_key, std::string* block) {
  constexpr uint32_t kBitsOfLine = kFilterLineBytes * 8;
  const uint64_t bits = uint64_t{hashes.size()} * static_cast<uint64_t>(std::max(bits_per_key, 1));
  uint64_t lines =
      std::min<uint64_t>((bits + kBitsOfLine - 1) / kBitsOfLine, UINT32_MAX / kBitsOfLine);
  // The number of lines is odd, because the line is chosen by a remainder.
  if (!hashes.empty()) lines |= 1;
  const auto bytes = static_cast<size_t>(lines * kFilterLineBytes);
  // The rate of false positives is lowest with ln 2 probes for each bit per key.
  const int probes = std::clamp(static_cast<int>(bits_per_key * 0.69), 1, kMaxProbes);
  block->assign(bytes + kFilterMetadataBytes, '\0');
  char* const data = block->data();
  const auto line_of = [=](uint64_t hash) {
    return data + static_cast<uint32_t>(hash) % lines * kFilterLineBytes;
  };
  ForEachPrefetched(hashes, line_of, [=](uint64_t wide_hash) {
    auto hash = static_cast<uint32_t>(wide_hash);
    const uint32_t delta = RotateRight(hash, 17);
    char* const line = line_of(hash);
    for (int i = 0; i < probes; i++, hash += delta) {
      const uint32_t bit = hash & (kBitsOfLine - 1);
      line[bit >> 3] = static_cast<char>(line[bit >> 3] | 1 << (bit & 7));
    }
    return true;
  });
  data[bytes] = static_cast<char>(probes);
  EncodeFixed32(data + bytes + 1, static_cast<uint32_t>(lines));
}

}  // namespace varve
