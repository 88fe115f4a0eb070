// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes keys from whole numbers, and draws the numbers.
//
// Published key streams fix both: with the same --seed, a benchmark visits the same keys as
// elsewhere.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "varve/slice.h"

namespace varve {
class DB;
}

namespace varve::bench {

// Draws the random numbers of one thread.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  uint64_t Next() { return engine_(); }
  // Returns a number in [0, n), by remainder. Requires n > 0.
  uint64_t Below(uint64_t n) { return Next() % n; }
  // Returns a number in [0, 1).
  double Share() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  std::mt19937_64 engine_;
};

// Draws a number for a read: uniform in [0, num), or skewed as --read_random_exp_range says.
uint64_t DrawReadNumber(Random& random, int64_t num);

// Writes keys of one benchmark into a buffer of its own.
class KeyMaker {
 public:
  // `num` is the size of the key space. `existing`, unless null, holds the keys to index instead of
  // making any, and must outlive this.
  KeyMaker(int key_size, int64_t num, const std::vector<std::string>* existing);

  // Returns the key of `number`, valid until the next call.
  Slice Make(uint64_t number);
  // Like the call above, but writes into the caller's buffer of key_size() bytes. Requires that
  // keys are generated.
  void MakeInto(uint64_t number, char* out) const;
  // Keys with the same prefix, or all if there are no prefixes, follow each other in the order of
  // their numbers. Returns how many of them come before the key of `number`.
  uint64_t CountBefore(uint64_t number) const { return number / stride(); }
  // Returns the key that comes `places` before that of `number`, or the first one with its prefix.
  // Valid until the next call.
  Slice MakeBefore(uint64_t number, uint64_t places);
  // Sets *key to the key that comes `places` after that of `number`, valid until the next call.
  // Returns false if existing keys end before.
  bool MakeAfter(uint64_t number, uint64_t places, Slice* key);
  // True if each generated key has room for its number and its prefix's.
  bool HoldsAllNumbers() const;
  bool has_existing() const { return existing_ != nullptr; }
  int key_size() const { return key_size_; }

 private:
  // Distance between the numbers of neighbours.
  uint64_t stride() const { return existing_ != nullptr || prefixes_ == 0 ? 1 : prefixes_; }
  size_t prefix_bytes() const;

  const int key_size_;
  const uint64_t num_;
  // Number of distinct prefixes; 0 if keys have none.
  const uint64_t prefixes_;
  const std::vector<std::string>* const existing_;
  std::string buffer_;
};

// Yields the numbers of a fill in the order in which they are written.
class FillOrder {
 public:
  enum class Kind { kSequential, kRandom, kUniqueRandom };

  // Requires `num` > 0. `random` must outlive this.
  FillOrder(Kind kind, int64_t num, uint64_t seed, Random* random);

  uint64_t Next();
  // Returns the number at a place of kUniqueRandom's order, below `num`.
  uint64_t At(uint64_t place) const { return permutation_[place]; }

 private:
  uint64_t NextUnique();

  const Kind kind_;
  const uint64_t num_;
  Random* const random_;
  uint64_t next_ = 0;
  std::vector<uint64_t> permutation_;  // kUniqueRandom only.
};

// Returns all keys of the database in order, for --use_existing_keys.
std::vector<std::string> LoadKeys(DB* db);

}  // namespace varve::bench
