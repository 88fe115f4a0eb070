// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keys, values and the order in which rows choose them. All come from numbers and a seed, so that
// every library gets the same.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace compare {

// Returns a bijection of 64-bit numbers that moves neighbours far apart.
constexpr uint64_t Scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Draws numbers by splitmix64. One thread may use it.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() { return Scramble(state_ += 0x9e3779b97f4a7c15u); }
  uint64_t Below(uint64_t n) { return Next() % n; }
  double Share() { return static_cast<double>(Next() >> 11) * 0x1p-53; }  // in [0, 1)

 private:
  uint64_t state_;
};

// Draws ranks below n by Zipf's distribution with exponent 0.99, in constant time after Gray and
// others, "Quickly Generating Billion-Record Synthetic Databases" (1994), as YCSB does. Rank 0 is
// drawn most often. Thread safety: immutable; each thread passes a Random of its own.
class Zipfian {
 public:
  // Takes time in proportion to n. Requires n > 0.
  explicit Zipfian(uint64_t n);
  uint64_t Rank(Random* random) const;

 private:
  uint64_t n_;
  double zeta_;  // sum of all weights; this and the next two are named as in the paper
  double alpha_;
  double eta_;
};

constexpr size_t kKeySize = 16;

// Stores a key of 16 bytes. Keys are ordered as their numbers are.
class Key {
 public:
  Key() : Key(0) {}
  explicit Key(uint64_t number) {
    for (size_t i = 0; i < 8; i++) bytes_[i] = static_cast<char>(number >> (56 - 8 * i));
    for (size_t i = 8; i < kKeySize; i++) bytes_[i] = '0';
  }
  // Returns the number in decimal digits, as people write keys, so that keys share their first
  // bytes.
  static Key Text(uint64_t number) {
    Key key;
    for (size_t i = kKeySize; i > 0; i--, number /= 10) {
      key.bytes_[i - 1] = static_cast<char>('0' + number % 10);
    }
    return key;
  }
  // Turns the key into a missing one, between the key of its number and that of the next number.
  void MakeMissing() { bytes_[12] = 'x'; }
  std::string_view view() const { return {bytes_.data(), kKeySize}; }

 private:
  std::array<char, kKeySize> bytes_;
};

// Makes values that begin with the number of their key, the stamp, and compress to about half. One
// thread may use it.
class Values {
 public:
  // Requires: size >= 16.
  explicit Values(size_t size);
  // Returns a value that is valid until the next call. Values of another version of the same stamp
  // have other bytes after it.
  std::string_view Of(uint64_t stamp, uint64_t version = 0);

 private:
  std::string value_;
};

}  // namespace compare
