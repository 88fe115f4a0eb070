// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the content of filter blocks: which bits a key sets and tests (FORMAT.md, "Filters").

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

// Returns the hash used by Bloom filters of format version 5 and later, and by Ribbon filters:
// 64-bit XXH3 as of xxHash 0.7.2. Keys, here and below, are user keys without timestamps, or their
// prefixes.
[[nodiscard]] inline uint64_t FilterHash(const Slice& key) {
  return KeyHash64(key);
}
// Returns the hash used by Bloom filters before format version 5. The seed is part of the format.
[[nodiscard]] inline uint32_t LegacyFilterHash(const Slice& key) {
  return Hash(key.data(), key.size(), 0xbc9f1d34);
}

// The kind of a stored filter, as its last bytes tell.
enum class FilterKind : uint8_t {
  kNeverMatches,   // built from no key
  kAlwaysMatches,  // declared so, or of an unknown kind
  kFastLocalBloom,
  kRibbon,
  kLegacyBloom,
};

// A parsed filter block. Any bytes may be parsed: a block that cannot be understood always matches.
//
// Thread safety: immutable. Lifetime: points into the block.
class FilterBits {
 public:
  FilterBits() = default;
  // Parses a filter. `block` is the whole uncompressed block, metadata included.
  [[nodiscard]] static FilterBits Parse(const Slice& block);

  // Returns the kind that Parse has found.
  [[nodiscard]] FilterKind kind() const { return kind_; }
  // True if MayMatch takes LegacyFilterHash instead of FilterHash.
  [[nodiscard]] bool uses_legacy_hash() const { return kind_ == FilterKind::kLegacyBloom; }
  // Returns the number of bits tested per key, of a Bloom filter.
  [[nodiscard]] int probes() const { return probes_; }

  // Returns the hash of a key or prefix that MayMatch of this filter takes.
  [[nodiscard]] uint64_t HashOf(const Slice& key) const {
    return uses_legacy_hash() ? LegacyFilterHash(key) : FilterHash(key);
  }

  // Returns the first cache line that MayMatch will read, or null if it reads none.
  [[nodiscard]] const char* LineOf(uint64_t hash) const {
    if (kind_ == FilterKind::kFastLocalBloom) [[likely]]
      return data_ + FastLocalLine(hash);
    return LineOfOther(hash);
  }
  template <CacheLevel level = CacheLevel::kFirst>
  void Prefetch(uint64_t hash) const {
    if (const char* line = LineOf(hash); line != nullptr) PrefetchLine<level>(line);
  }

  // Returns false only if no key with this hash was added.
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
  // Return the line of the filter in which all probes of a hash lie: its offset, or its address.
  [[nodiscard]] size_t FastLocalLine(uint64_t hash) const {
    const size_t at = static_cast<size_t>((hash & 0xffffffff) * lines_ >> 32) * kFilterLineBytes;
    VARVE_ASSERT(at + kFilterLineBytes <= bytes_);
    return at;
  }
  [[nodiscard]] const char* LineOfOther(uint64_t hash) const;
  // Answer for the forms other than the fast local one.
  [[nodiscard]] bool MayMatchOther(uint64_t hash) const;
  // Tests a Bloom filter of a format version below 5.
  [[nodiscard]] bool LegacyMatches(uint32_t hash) const;
  // Tests the equation of the hash in every column of its block.
  [[nodiscard]] bool RibbonMatches(uint64_t hash) const;

  // The bits, which the block owns, the number of lines, and the number of probes.
  const char* data_ = nullptr;
  size_t bytes_ = 0;  // excludes metadata
  uint64_t lines_ = 0;
  uint32_t line_bytes_ = 0;  // legacy Bloom only; others use 64
  int probes_ = 0;
  FilterKind kind_ = FilterKind::kAlwaysMatches;
  // True if the processor tests a line with vector instructions.
  bool by_vector_ = false;
  RibbonHasher ribbon_hasher_;
  RibbonLayout ribbon_layout_;
};

// Replaces *block by the FastLocalBloom block of these hashes, metadata included. Without hashes
// the block never matches. Duplicates waste space but are harmless.
void BuildFastLocalBloom(const FilterHashes& hashes, const BloomDesign& design, std::string* block);

// Does the same for the Bloom filters of format versions below 5, from LegacyFilterHash values.
void BuildLegacyBloom(const FilterHashes& hashes, int bits_per_key, std::string* block);

}  // namespace varve
