// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the hash functions that are part of the on-disk formats. None resists an attacker who
// chooses the input; in-memory tables over user keys add their own seed.

#include <cstddef>
#include <cstdint>

#include "varve/slice.h"

#include "util/coding/fixed.h"

namespace varve {

// Returns the 32-bit hash of legacy filters (seed 0xbc9f1d34) and of a data block's hash index
// (seed 397). Bytes of an incomplete last word are taken as signed.
[[nodiscard]] uint32_t Hash(const char* data, size_t n, uint32_t seed);

// Return table checksums of the published xxHash functions with seed 0. The forms with `last_byte`
// hash the n bytes followed by that byte.
[[nodiscard]] uint32_t XXHash32(const char* data, size_t n);
[[nodiscard]] uint32_t XXHash32(const char* data, size_t n, uint8_t last_byte);
[[nodiscard]] uint32_t XXHash64Low32(const char* data, size_t n);
[[nodiscard]] uint32_t XXHash64Low32(const char* data, size_t n, uint8_t last_byte);
[[nodiscard]] uint32_t XXH3Low32(const char* data, size_t n);

// Returns the published 64-bit XXH3, for in-memory uses.
[[nodiscard]] uint64_t XXH3Hash64(const char* data, size_t n, uint64_t seed);

// A hash of 128 bits in two halves.
struct Hash128 {
  uint64_t low;
  uint64_t high;
};

// Returns the published 128-bit XXH3, for the unique ids of tables.
[[nodiscard]] Hash128 XXH3Hash128(const char* data, size_t n, uint64_t seed);

// The hash of filter keys is XXH3 as of xxHash 0.7.2, before its final definition: its results
// differ from those of the published function.
namespace key_hash {

// The primes of xxHash.
inline constexpr uint64_t kPrime64_1 = 0x9E3779B185EBCA87u;
inline constexpr uint64_t kPrime64_2 = 0xC2B2AE3D27D4EB4Fu;
inline constexpr uint64_t kPrime64_3 = 0x165667B19E3779F9u;
inline constexpr uint64_t kPrime64_4 = 0x85EBCA77C2B2AE63u;
inline constexpr uint64_t kPrime64_5 = 0x27D4EB2F165667C5u;
inline constexpr uint32_t kPrime32_1 = 0x9E3779B1u;
inline constexpr uint32_t kPrime32_2 = 0x85EBCA77u;
inline constexpr uint32_t kPrime32_3 = 0xC2B2AE3Du;

inline constexpr size_t kSecretBytes = 192;
// The bytes that XXH3 mixes into the input.
extern const unsigned char kSecret[kSecretBytes];

// Words of the secret at the offsets that short keys use; they are literals so that they become
// immediates.
inline constexpr uint64_t kSecretAt0 = 0xbe4ba423396cfeb8u;
inline constexpr uint64_t kSecretAt8 = 0x1cad21f72c81017cu;
inline constexpr uint64_t kSecretAt16 = 0xdb979083e96dd4deu;
inline constexpr uint64_t kSecretAt24 = 0x1f67b3b7a4a44072u;

// Returns the XOR of both halves of the 128-bit product.
[[nodiscard]] inline uint64_t Fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Spreads the bits of a hash that is nearly done.
[[nodiscard]] inline uint64_t Finish(uint64_t h) {
  h ^= h >> 37;
  h *= kPrime64_3;
  return h ^ (h >> 32);
}

// Return the hash of keys that KeyHash64 does not compute inline.
[[nodiscard]] uint64_t HashUpTo3(const char* data, size_t n);
[[nodiscard]] uint64_t HashLong(const char* data, size_t n);  // Requires n > 32.

}  // namespace key_hash

// Returns the hash of a filter key. Keys of 4 to 32 bytes are hashed inline: every read does this.
[[nodiscard]] inline uint64_t KeyHash64(const char* data, size_t n) {
  using namespace key_hash;  // NOLINT(google-build-using-namespace): these names mean nothing
                             // elsewhere
  if (n > 16) {
    if (n > 32) return HashLong(data, n);
    const uint64_t head =
        Fold(DecodeFixed64(data) ^ kSecretAt0, DecodeFixed64(data + 8) ^ kSecretAt8);
    const uint64_t tail =
        Fold(DecodeFixed64(data + n - 16) ^ kSecretAt16, DecodeFixed64(data + n - 8) ^ kSecretAt24);
    return Finish(n * kPrime64_1 + head + tail);
  }
  if (n > 8) {
    const uint64_t low = DecodeFixed64(data) ^ kSecretAt0;
    const uint64_t high = DecodeFixed64(data + n - 8) ^ kSecretAt8;
    return Finish(n + low + high + Fold(low, high));
  }
  if (n < 4) return HashUpTo3(data, n);
  const uint64_t ends = DecodeFixed32(data) | static_cast<uint64_t>(DecodeFixed32(data + n - 4))
                                                  << 32;
  const uint64_t keyed = ends ^ kSecretAt0;
  const uint64_t mixed = n + (keyed ^ (keyed >> 51)) * kPrime32_1;
  return Finish((mixed ^ (mixed >> 47)) * kPrime64_2);
}

[[nodiscard]] inline uint64_t KeyHash64(const Slice& key) {
  return KeyHash64(key.data(), key.size());
}

}  // namespace varve
