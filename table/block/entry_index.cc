// SPDX-License-Identifier: Apache-2.0

// Builds the entry index of a cached block in two scans. The first records where entries begin and
// what prefix their keys share; the second takes eight bytes of each key after that prefix. Then
// the bits are chosen: 8 or 16 per word, whichever tells the entries apart in the room that there
// is.

#include "table/block/entry_index.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "table/block/block.h"
#include "util/base/assert.h"
#include "util/mem/prefetch.h"

namespace varve {

namespace {

// The key of an entry that ScanOffsets has accepted.
struct ParsedKey {
  const char* unshared;
  size_t shared;
  size_t key_bytes;  // bytes of the whole key
};

// Parses the key of the entry at `p`, and sets *next to the end of the entry. Returns false if it
// is damaged.
bool ParseKey(const char* p, const char* limit, size_t tail_bytes, ParsedKey* key,
              const char** next) {
  BlockEntryHeader header;
  key->unshared = DecodeBlockEntry(p, limit, &header);
  if (key->unshared == nullptr) return false;
  const size_t size = size_t{header.shared} + header.unshared;
  if (size < tail_bytes) return false;
  key->shared = header.shared;
  key->key_bytes = size - tail_bytes;
  *next = key->unshared + header.unshared + header.value_size;
  return true;
}

// Returns the eight bytes after `prefix` of a key, given those of the key before it, of which the
// entry stores only the bytes that differ. Three cases: all eight, or the whole key, are in what
// the key shares with the one before; none is, and the suffix has them; or the first `kept` are,
// and the suffix has the rest.
uint64_t PrefixAfter(uint64_t previous, const ParsedKey& key, size_t prefix) {
  if (key.shared >= prefix + 8 || key.shared >= key.key_bytes) return previous;
  const Slice suffix(key.unshared, key.key_bytes - key.shared);
  if (key.shared <= prefix) return KeyPrefix(suffix, prefix - key.shared);
  const size_t kept = key.shared - prefix;  // 1..7 bytes
  VARVE_ASSERT(kept >= 1 && kept <= 7);
  const uint64_t mask = ~uint64_t{0} << (64 - 8 * kept);
  return (previous & mask) | KeyPrefix(suffix, 0) >> (8 * kept);
}

// Prefetches every line of a block that was read some time ago. The scan below learns from each
// entry where the next one lies, so that without this it would wait for one line after the other.
void PrefetchAll(const Slice& entries) {
  constexpr size_t kLine = 64;
  for (size_t at = 0; at < entries.size(); at += kLine) {
    PrefetchLine<CacheLevel::kSecond>(entries.data() + at);
  }
}

}  // namespace

bool EntryIndexBuilder::Scan(const Slice& entries, size_t tail_bytes) {
  tail_bytes_ = tail_bytes;
  size_ = 0;
  wide_places_ = false;
  if (entries.size() > UINT16_MAX) return false;
  PrefetchAll(entries);
  if (!ScanOffsets(entries) || !ScanWords(entries)) return false;
  ChooseWidth();
  return true;
}

// Collects the offsets and finds the keys' common prefix, which is what the last shares with the
// first.
bool EntryIndexBuilder::ScanOffsets(const Slice& entries) {
  const char* const limit = entries.data() + entries.size();
  Slice first;
  ParsedKey key{nullptr, 0, 0};
  size_t previous_key_bytes = 0;
  for (const char* p = entries.data(); p < limit;) {
    if (size_ == EntryIndex::kEntriesMax) return false;
    offsets_[size_] = static_cast<uint16_t>(p - entries.data());
    if (!ParseKey(p, limit, tail_bytes_, &key, &p)) return false;
    // A longer key that shares bytes of its predecessor's timestamp or trailer prevents an index:
    // PrefixAfter knows only the predecessor's key. A key that is not longer may share them, as
    // another version does. So no entry of an index shares more bytes than its predecessor has.
    if (key.shared > previous_key_bytes && key.key_bytes > previous_key_bytes) return false;
    previous_key_bytes = key.key_bytes;
    wide_places_ = wide_places_ || p - entries.data() - offsets_[size_] > UINT8_MAX;
    const size_t common = std::min(prefix_, key.key_bytes);
    if (size_ == 0) {
      if (key.shared != 0) return false;
      first = Slice(key.unshared, key.key_bytes);
      prefix_ = first.size();
    } else if (key.shared < common) {
      const size_t n = common - key.shared;
      const Slice rest(first.data() + key.shared, n);
      prefix_ = key.shared + rest.difference_offset(Slice(key.unshared, n));
    } else {
      prefix_ = common;
    }
    size_++;
  }
  return size_ != 0 && prefix_ <= UINT16_MAX &&
         entries.size() / size_ >= EntryIndex::kEntryBytesMin;
}

bool EntryIndexBuilder::ScanWords(const Slice& entries) {
  const char* const limit = entries.data() + entries.size();
  uint64_t word = 0;
  for (uint32_t i = 0; i < size_; i++) {
    ParsedKey key;
    const char* next;
    if (!ParseKey(entries.data() + offsets_[i], limit, tail_bytes_, &key, &next)) return false;
    const uint64_t previous = word;
    word = PrefixAfter(previous, key, prefix_);
    if (i != 0 && word < previous) return false;
    words_[i] = word;
  }
  return true;
}

int EntryIndexBuilder::ShiftFor(int bits) const {
  return std::max(0, static_cast<int>(std::bit_width(words_[size_ - 1] - words_[0])) - bits);
}

// Chooses narrow words unless they make many entries in a row equal.
void EntryIndexBuilder::ChooseWidth() {
  constexpr uint32_t kAlikeMax = 3;
  const int shift = ShiftFor(8);
  uint32_t alike = 0;
  wide_words_ = false;
  for (uint32_t i = 1; i < size_; i++) {
    const bool same = (words_[i] - words_[0]) >> shift == (words_[i - 1] - words_[0]) >> shift;
    alike = same ? alike + 1 : 0;
    if (alike >= kAlikeMax) wide_words_ = true;
  }
}

bool EntryIndexBuilder::FitInto(size_t room) {
  if (bytes() > room) wide_words_ = false;
  return bytes() <= room;
}

// Readers that see size() of 0 take the block for one without index. So size_ is stored last, with
// release, when all else is in place.
void EntryIndexBuilder::Write(EntryIndex* index) const {
  // Scan has found entries, and the index was not written before.
  VARVE_ASSERT(size_ > 0 && index->size() == 0);
  const uint64_t base = words_[0];
  const int shift = ShiftFor(wide_words_ ? 16 : 8);
  uint64_t bits_in_use = 0;
  for (uint32_t i = 0; i < size_; i++) bits_in_use |= words_[i] - base;
  index->base_ = base;
  index->prefix_ = static_cast<uint16_t>(prefix_);
  index->shift_ = static_cast<uint8_t>(shift);
  // No bit that the shift cuts off is in use, so that equal words mean equal bytes.
  index->exact_ = bits_in_use == 0 || std::countr_zero(bits_in_use) >= shift;
  index->wide_words_ = wide_words_;
  index->wide_places_ = wide_places_;
  char* words = const_cast<char*>(index->words(size_));
  char* places = const_cast<char*>(index->places(size_));
  for (uint32_t i = 0; i < size_; i++) {
    const uint64_t word = (words_[i] - base) >> shift;
    if (wide_words_) {
      const auto wide = static_cast<uint16_t>(word);
      memcpy(words + size_t{i} * 2, &wide, sizeof(wide));
    } else {
      words[i] = static_cast<char>(word);
    }
    if (wide_places_) {
      EncodeFixed16(places + size_t{i} * 2, offsets_[i]);
    } else if (i + 1 < size_) {
      places[i] = static_cast<char>(offsets_[i + 1] - offsets_[i]);
    } else {
      places[i] = 0;  // no offset after the last is ever requested
    }
  }
  index->size_.store(static_cast<uint16_t>(size_), std::memory_order_release);
}

}  // namespace varve
