// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the index of the entries of a cached block: the position of each entry, with a word of
// its key that orders them. It is built when a block is read for the second time; from then on a
// search reads one or two cache lines of it, and then the entry it wants.
//
//    block:   entry 0 | entry 1 | ... | entry n-1      keys share a prefix of `shared_prefix` bytes
//    words:   w0 w1 ... w(n-1)     the next 8 key bytes, minus those of entry 0, shifted right
//    places:  offsets, or lengths  where each entry begins
//
// A search compares one word with all of them, sixteen bytes at a time, and counts how many are
// smaller and how many are equal: the count is the position. There is no branch that depends on
// the data, and no pointer to follow.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "varve/slice.h"

#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/key/internal_key.h"

namespace varve {

namespace entry_index {

// A vector of sixteen bytes of words.
template <typename Word>
using Lanes __attribute__((vector_size(16))) = Word;
template <typename Word>
inline constexpr size_t kLanes = 16 / sizeof(Word);

// Reads a value that need not be aligned.
template <typename T>
T Load(const char* p) {
  T result;
  memcpy(&result, p, sizeof(result));
  return result;
}

// Returns all ones in the lanes from `first` on.
template <typename Word>
auto LanesFrom(size_t first) {
  Lanes<Word> numbers;
  for (size_t i = 0; i < kLanes<Word>; i++) numbers[i] = static_cast<Word>(i);
  return numbers >= static_cast<Word>(first);
}

// Counts how often each lane was true.
template <typename Word>
class Counts {
 public:
  // Adds the result of a comparison, which is -1 for true.
  template <typename Truth>
  void Add(Truth truth) {
    counts_ -= reinterpret_cast<Lanes<Word>>(truth);
  }
  // Returns the sum of all lanes; at most UINT16_MAX.
  [[nodiscard]] uint32_t Sum() const {
    // kEven selects every other byte. A product with kOnes has the sum of a word's four 16-bit
    // parts in its top 16 bits.
    constexpr uint64_t kEven = 0x00ff00ff00ff00ff;
    constexpr uint64_t kOnes = 0x0001000100010001;
    uint64_t halves[2];
    memcpy(halves, &counts_, sizeof(halves));
    uint64_t sums = 0;  // four sums of 16 bits
    for (const uint64_t half : halves) {
      sums += sizeof(Word) == 1 ? (half & kEven) + (half >> 8 & kEven) : half;
    }
    return static_cast<uint32_t>(sums * kOnes >> 48);
  }

 private:
  // A byte is enough for a lane: it counts at most kEntriesMax / kLanes entries.
  Lanes<Word> counts_{};
};

}  // namespace entry_index

// The word of an entry is taken from the eight user-key bytes after the prefix that all keys of
// the block share: it is their distance from the first entry's, cut to its most significant 8 or
// 16 bits. So words ascend with the keys; different words mean different keys, equal words may
// too, and then the entries in the range are compared in full.
//
// Blocks of small entries store the entries' lengths, in a byte each, instead of their offsets.
//
// The object lies at the end of what precedes these arrays in memory: they follow it.
//
// Thread safety: immutable once size() is not 0.
class EntryIndex {
 public:
  // A larger block, or one with more or smaller entries, has no index, as it would not pay.
  static constexpr size_t kEntriesMax = 1024;
  static constexpr size_t kEntryBytesMin = 32;

  // Bytes that may follow a bare key: a timestamp of up to 64 bits, and the trailer.
  static constexpr size_t kTailBytesMax = kInternalKeyTrailerBytes + 8;

  // Returns the number of entries; 0: the block has no index, or none yet. Loads with acquire.
  [[nodiscard]] uint32_t size() const { return size_.load(std::memory_order_acquire); }
  // True if an index may be made and was not requested yet.
  [[nodiscard]] bool awaited() const { return awaited_.load(std::memory_order_relaxed); }
  // Returns the length of the keys' common prefix; keys with other prefixes cannot be looked up
  // here.
  [[nodiscard]] uint32_t shared_prefix() const { return prefix_; }
  // True if equal words imply that the eight bytes are equal.
  [[nodiscard]] bool exact() const { return exact_; }
  // Returns the offset of entry `i` within the block. Requires i < size().
  [[nodiscard]] uint32_t offset(uint32_t i) const;

  // Finds the range [*begin, *end) of entries whose key may be `bare_key`, a user key without its
  // timestamp; if the range is empty, *begin is the first entry with a larger key. Requires size()
  // > 0. The result is meaningless for a key that does not start with the shared prefix: callers
  // compare the key with that, or with the entries.
  void Find(const Slice& bare_key, uint32_t* begin, uint32_t* end) const;
  // Returns the number of bytes that follow the bare key in an internal key: timestamp and trailer.
  [[nodiscard]] size_t tail_bytes() const { return tail_bytes_; }

  // Permits an index, of bare keys that are followed by `tail_bytes` bytes in their internal keys.
  // Must be called before the block is shared.
  void Await(size_t tail_bytes) {
    VARVE_ASSERT(size() == 0 && tail_bytes <= kTailBytesMax);
    tail_bytes_ = static_cast<uint8_t>(tail_bytes);
    awaited_.store(true, std::memory_order_relaxed);
  }
  // Returns true to one thread, which may then make the index.
  [[nodiscard]] bool Claim() {
    return awaited() && awaited_.exchange(false, std::memory_order_relaxed);
  }

 private:
  friend class EntryIndexBuilder;

  // True if the words lie before the offsets or lengths: the array with the larger elements comes
  // first.
  [[nodiscard]] bool words_first() const { return wide_words_ || !wide_places_; }
  // Returns the start of the words in an index of `n` entries.
  [[nodiscard]] const char* words(size_t n) const {
    return reinterpret_cast<const char*>(this + 1) + (words_first() ? 0 : n * 2);
  }
  // Returns the start of the offsets or lengths in an index of `n` entries.
  [[nodiscard]] const char* places(size_t n) const {
    const size_t words_bytes = wide_words_ ? n * 2 : n;
    return reinterpret_cast<const char*>(this + 1) + (words_first() ? words_bytes : 0);
  }
  // Counts the words that are smaller than, and equal to, the wanted one, which must fit into Word.
  template <typename Word>
  void Count(uint64_t wanted, uint32_t* smaller, uint32_t* equal) const;

  uint64_t base_ = 0;  // the first entry's eight bytes
  // Length of the prefix that all keys share.
  uint16_t prefix_ = 0;
  // Stored with release, after all else.
  std::atomic<uint16_t> size_{0};
  // Number of bits that are cut off a distance to make a word.
  uint8_t shift_ = 0;
  uint8_t tail_bytes_ = kInternalKeyTrailerBytes;
  std::atomic<bool> awaited_{false};
  bool exact_ : 1 = false;
  bool wide_words_ : 1 = false;   // 16 bits instead of 8
  bool wide_places_ : 1 = false;  // offsets of 16 bits instead of lengths of 8
};

// Scans a block and then writes its index.
//
// Thread safety: none.
class EntryIndexBuilder {
 public:
  // Scans the `entries` of a block in bytewise order of keys, each key followed by `tail_bytes`.
  // Returns false if the block gets no index, for example because it is damaged, which the walk
  // that finds the damage reports.
  bool Scan(const Slice& entries, size_t tail_bytes);
  // Returns the size of the arrays after the index. Requires that Scan returned true.
  [[nodiscard]] size_t bytes() const {
    return size_t{size_} * ((wide_words_ ? 2 : 1) + (wide_places_ ? 2 : 1));
  }
  // Makes the arrays fit into `room`. Returns false if even the narrowest do not, and so there is
  // no index. Requires that Scan returned true.
  bool FitInto(size_t room);
  // Writes the index. Requires that Scan returned true and that bytes() follow `index`. Readers may
  // look at it meanwhile.
  void Write(EntryIndex* index) const;
  // Returns the number of entries that were scanned.
  [[nodiscard]] uint32_t size() const { return size_; }

 private:
  // Records where entries begin. Returns false if the block is damaged, too large, or has too many
  // entries.
  bool ScanOffsets(const Slice& entries);
  // Records the words of the entries: the eight bytes after the prefix that they share. Returns
  // false if the block is damaged or its keys do not ascend.
  bool ScanWords(const Slice& entries);
  // Chooses the bits of a word by how well they distinguish the entries.
  void ChooseWidth();
  // Returns by how much a distance from the first word is shifted to leave `bits` bits.
  [[nodiscard]] int ShiftFor(int bits) const;

  size_t tail_bytes_ = kInternalKeyTrailerBytes;
  uint32_t size_ = 0;
  size_t prefix_ = 0;
  bool wide_words_ = false;
  bool wide_places_ = false;
  // Offset and eight-byte word of each entry, before they are narrowed.
  uint16_t offsets_[EntryIndex::kEntriesMax];
  uint64_t words_[EntryIndex::kEntriesMax];
};

inline uint32_t EntryIndex::offset(uint32_t i) const {
  VARVE_ASSERT(i < size());
  const char* p = places(size_.load(std::memory_order_relaxed));
  if (wide_places_) return DecodeFixed16(p + size_t{i} * 2);
  // Sums the lengths before the entry, eight at a time.
  constexpr uint64_t kEven = 0x00ff00ff00ff00ff;
  uint64_t sums = 0;  // four sums of 16 bits, enough for a block's bytes
  for (; i >= 8; i -= 8, p += 8) {
    const uint64_t eight = DecodeFixed64(p);
    sums += (eight & kEven) + (eight >> 8 & kEven);
  }
  uint32_t sum = static_cast<uint16_t>(sums) + static_cast<uint16_t>(sums >> 16) +
                 static_cast<uint16_t>(sums >> 32) + static_cast<uint16_t>(sums >> 48);
  for (; i > 0; i--) sum += static_cast<unsigned char>(*p++);
  return sum;
}

// Compares a vector of words at a time. The last vector ends with the last word and so overlaps the
// one before it, of whose lanes only the new ones are counted. Fewer words than a vector has are
// compared one by one.
template <typename Word>
inline void EntryIndex::Count(uint64_t wanted, uint32_t* smaller, uint32_t* equal) const {
  const size_t size = size_.load(std::memory_order_relaxed);
  const char* const w = words(size);
  const auto goal = static_cast<Word>(wanted);
  entry_index::Counts<Word> less;
  entry_index::Counts<Word> same;
  constexpr size_t kLanes = entry_index::kLanes<Word>;
  if (size < kLanes) {
    *smaller = *equal = 0;
    for (size_t i = 0; i < size; i++) {
      const auto word = entry_index::Load<Word>(w + i * sizeof(Word));
      *smaller += word < goal ? 1 : 0;
      *equal += word == goal ? 1 : 0;
    }
    return;
  }
  size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const auto some = entry_index::Load<entry_index::Lanes<Word>>(w + i * sizeof(Word));
    less.Add(some < goal);
    same.Add(some == goal);
  }
  if (i < size) {
    // The last words, except those that were counted already.
    const auto some =
        entry_index::Load<entry_index::Lanes<Word>>(w + (size - kLanes) * sizeof(Word));
    const auto rest = entry_index::LanesFrom<Word>(kLanes - (size - i));
    less.Add((some < goal) & rest);
    same.Add((some == goal) & rest);
  }
  *smaller = less.Sum();
  *equal = same.Sum();
}

// A word is the key's distance from the first entry, cut to the index's bits. A distance that does
// not fit into these bits is behind all entries.
inline void EntryIndex::Find(const Slice& bare_key, uint32_t* begin, uint32_t* end) const {
  VARVE_ASSERT(size() != 0);
  const uint64_t word = KeyPrefix(bare_key, prefix_);
  if (word < base_) {
    *begin = *end = 0;
    return;
  }
  const uint64_t distance = word - base_;
  const uint64_t wanted = distance >> shift_;
  if (wanted > (wide_words_ ? UINT16_MAX : UINT8_MAX)) {
    *begin = *end = size_.load(std::memory_order_relaxed);
    return;
  }
  uint32_t smaller = 0;
  uint32_t equal = 0;
  if (wide_words_) {
    Count<uint16_t>(wanted, &smaller, &equal);
  } else {
    Count<uint8_t>(wanted, &smaller, &equal);
  }
  *end = smaller + equal;
  // With exact words, the entries' distances are multiples of 1 << shift_, and no key lies between
  // them.
  const bool between = exact_ && (distance & ((uint64_t{1} << shift_) - 1)) != 0;
  *begin = between ? *end : smaller;
}

}  // namespace varve
