// SPDX-License-Identifier: Apache-2.0
#pragma once

// The content of filter blocks: which bits a key sets and asks for (FORMAT.md, "Filters").

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/slice.h"

#include "table/filter/bloom_design.h"
#include "table/filter/cache_line_bloom.h"
#include "table/filter/filter_hashes.h"
#include "table/filter/ribbon.h"
#include "util/base/assert.h"
#include "util/coding/hash.h"
#include "util/mem/prefetch.h"

namespace varve {

// The hash that Bloom filters of format version 5 and later, and Ribbon filters, are made of:
// 64-bit XXH3 as it stood in xxHash 0.7.2.
[[nodiscard]] inline uint64_t FilterHash(const Slice& key) {
  return KeyHash64(key);
}
// The hash of Bloom filters before format version 5.
[[nodiscard]] inline uint32_t LegacyFilterHash(const Slice& key) {
  return Hash(key.data(), key.size(), 0xbc9f1d34);
}

enum class FilterKind : uint8_t {
  kNeverMatches,   // built from no key
  kAlwaysMatches,  // says so, or is of a kind that is not known
  kFastLocalBloom,
  kRibbon,
  kLegacyBloom,
};

// A filter block, taken apart. Any bytes may be parsed: what cannot be understood always matches.
//
// Thread safety: immutable. Lifetime: points into the block.
class FilterBits {
 public:
  FilterBits() = default;
  // `block` is the whole uncompressed block, metadata included.
  [[nodiscard]] static FilterBits Parse(const Slice& block);

  [[nodiscard]] FilterKind kind() const { return kind_; }
  // Whether MayMatch takes LegacyFilterHash rather than FilterHash.
  [[nodiscard]] bool uses_legacy_hash() const { return kind_ == FilterKind::kLegacyBloom; }
  [[nodiscard]] int probes() const { return probes_; }

  // The hash of a key or prefix that MayMatch of this filter takes.
  [[nodiscard]] uint64_t HashOf(const Slice& key) const {
    return uses_legacy_hash() ? LegacyFilterHash(key) : FilterHash(key);
  }

  // The first cache line that MayMatch will read; null if it reads none.
  [[nodiscard]] const char* LineOf(uint64_t hash) const {
    if (kind_ == FilterKind::kFastLocalBloom) [[likely]]
      return data_ + FastLocalLine(hash);
    return LineOfOther(hash);
  }
  template <CacheLevel level = CacheLevel::kFirst>
  void Prefetch(uint64_t hash) const {
    if (const char* line = LineOf(hash); line != nullptr) PrefetchLine<level>(line);
  }

  // False only if no key with this hash was added.
  [[nodiscard]] bool MayMatch(uint64_t hash) const {
    if (kind_ == FilterKind::kFastLocalBloom) [[likely]] {
      const char* const line = data_ + FastLocalLine(hash);
      const auto bits = static_cast<uint32_t>(hash >> 32);
      return by_vector_ ? LineMatchesByVector(line, bits, probes_)
                        : LineMatches(line, bits, probes_);
    }
    return MayMatchOther(hash);
  }

 private:
  [[nodiscard]] size_t FastLocalLine(uint64_t hash) const {
    const size_t at = static_cast<size_t>((hash & 0xffffffff) * lines_ >> 32) * kFilterLineBytes;
    VARVE_ASSERT(at + kFilterLineBytes <= bytes_);
    return at;
  }
  [[nodiscard]] const char* LineOfOther(uint64_t hash) const;
  [[nodiscard]] bool MayMatchOther(uint64_t hash) const;
  [[nodiscard]] bool LegacyMatches(uint32_t hash) const;
  [[nodiscard]] bool RibbonMatches(uint64_t hash) const;

  const char* data_ = nullptr;
  size_t bytes_ = 0;  // without metadata
  uint64_t lines_ = 0;
  uint32_t line_bytes_ = 0;  // legacy Bloom only; others use 64
  int probes_ = 0;
  FilterKind kind_ = FilterKind::kAlwaysMatches;
  bool by_vector_ = false;
  RibbonHasher ribbon_hasher_;
  RibbonLayout ribbon_layout_;
};

// Replaces *block by the FastLocalBloom block of these hashes, metadata included. No hash gives a
// block that never matches. Duplicates are wasted space but not wrong.
void BuildFastLocalBloom(const FilterHashes& hashes, const BloomDesign& design, std::string* block);

// The same for the Bloom filters of format versions below 5, from LegacyFilterHash values.
void BuildLegacyBloom(const FilterHashes& hashes, int bits_per_key, std::string* block);

}  // namespace varve
