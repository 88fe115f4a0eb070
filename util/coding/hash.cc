// SPDX-License-Identifier: Apache-2.0

// Implements the legacy 32-bit hash, the xxHash functions of the library, and the key hash of long
// and tiny keys.

#include "util/coding/hash.h"

// xxHash is compiled in: short inputs are common, and the streaming state is not part of the shared
// library's interface.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "util/coding/hash_x86.h"

namespace varve {

uint32_t Hash(const char* data, size_t n, uint32_t seed) {
  constexpr uint32_t kMultiplier = 0xc6a4a793u;
  uint32_t h = seed ^ (static_cast<uint32_t>(n) * kMultiplier);
  for (; n >= 4; data += 4, n -= 4) {
    h += DecodeFixed32(data);
    h *= kMultiplier;
    h ^= h >> 16;
  }
  if (n == 0) return h;
  // Existing files depend on the sign extension.
  const auto signed_byte = [data](size_t i) {
    return static_cast<uint32_t>(static_cast<int32_t>(static_cast<signed char>(data[i])));
  };
  if (n > 2) h += signed_byte(2) << 16;
  if (n > 1) h += signed_byte(1) << 8;
  h += signed_byte(0);
  h *= kMultiplier;
  return h ^ (h >> 24);
}

uint32_t XXHash32(const char* data, size_t n) {
  return XXH32(data, n, 0);
}

uint32_t XXHash32(const char* data, size_t n, uint8_t last_byte) {
  XXH32_state_t state;
  XXH32_reset(&state, 0);
  XXH32_update(&state, data, n);
  XXH32_update(&state, &last_byte, 1);
  return XXH32_digest(&state);
}

uint32_t XXHash64Low32(const char* data, size_t n) {
  return static_cast<uint32_t>(XXH64(data, n, 0));
}

uint32_t XXHash64Low32(const char* data, size_t n, uint8_t last_byte) {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  XXH64_update(&state, data, n);
  XXH64_update(&state, &last_byte, 1);
  return static_cast<uint32_t>(XXH64_digest(&state));
}

uint32_t XXH3Low32(const char* data, size_t n) {
  // XXH3 uses no vectors up to this size.
  constexpr size_t kShort = 240;
  if (n > kShort) {
    static const hash_x86::Xxh3Function wide = hash_x86::FindXxh3();
    if (wide != nullptr) return wide(data, n);
  }
  return static_cast<uint32_t>(XXH3_64bits(data, n));
}

uint64_t XXH3Hash64(const char* data, size_t n, uint64_t seed) {
  return XXH3_64bits_withSeed(data, n, seed);
}

Hash128 XXH3Hash128(const char* data, size_t n, uint64_t seed) {
  const XXH128_hash_t h = XXH3_128bits_withSeed(data, n, seed);
  return {h.low64, h.high64};
}

namespace key_hash {

const unsigned char kSecret[kSecretBytes] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

namespace {

constexpr size_t kLanes = 8;
constexpr size_t kStripeBytes = 64;
constexpr size_t kStripesPerBlock = 16;
constexpr size_t kBlockBytes = kStripeBytes * kStripesPerBlock;

uint64_t SecretAt(size_t offset) {
  return DecodeFixed64(reinterpret_cast<const char*>(kSecret) + offset);
}

// Mixes 16 bytes of input with 16 of the secret.
uint64_t Mix(const char* p, size_t secret) {
  return Fold(DecodeFixed64(p) ^ SecretAt(secret), DecodeFixed64(p + 8) ^ SecretAt(secret + 8));
}

// Consumes pairs of 16 bytes from both ends inwards.
uint64_t HashUpTo128(const char* data, size_t n) {
  uint64_t sum = n * kPrime64_1;
  for (size_t j = 0; j <= (n - 1) / 32; j++) {
    sum += Mix(data + 16 * j, 32 * j) + Mix(data + n - 16 * (j + 1), 32 * j + 16);
  }
  return Finish(sum);
}

// The offsets 3 and 119 into the secret are the format's.
uint64_t HashUpTo240(const char* data, size_t n) {
  uint64_t sum = n * kPrime64_1;
  for (size_t i = 0; i < 8; i++) sum += Mix(data + 16 * i, 16 * i);
  sum = Finish(sum);
  for (size_t i = 8; i < n / 16; i++) sum += Mix(data + 16 * i, 16 * (i - 8) + 3);
  return Finish(sum + Mix(data + n - 16, 119));
}

// Adds the stripe at `p` to the lanes, mixed with the secret from offset `secret` on.
void AddStripe(const char* p, size_t secret, uint64_t lanes[kLanes]) {
  for (size_t i = 0; i < kLanes; i++) {
    const uint64_t value = DecodeFixed64(p + 8 * i);
    const uint64_t keyed = value ^ SecretAt(secret + 8 * i);
    lanes[i] += value + (keyed & 0xffffffffu) * (keyed >> 32);
  }
}

// Eight lanes take 64 bytes a stripe. After each block of 16 stripes the lanes are scrambled. If a
// tail remains, the last 64 bytes of the input are one more stripe, which overlaps with the one
// before, so a tail needs no padding. The offsets 128, 121 and 11 into the secret are the format's.
uint64_t HashStripes(const char* data, size_t n) {
  uint64_t lanes[kLanes] = {kPrime32_3, kPrime64_1, kPrime64_2, kPrime64_3,
                            kPrime64_4, kPrime32_2, kPrime64_5, kPrime32_1};
  const size_t blocks = n / kBlockBytes;
  const char* p = data;
  for (size_t block = 0; block < blocks; block++) {
    for (size_t s = 0; s < kStripesPerBlock; s++) AddStripe(p + kStripeBytes * s, 8 * s, lanes);
    p += kBlockBytes;
    for (size_t i = 0; i < kLanes; i++) {
      lanes[i] = ((lanes[i] ^ (lanes[i] >> 47)) ^ SecretAt(128 + 8 * i)) * kPrime32_1;
    }
  }
  const size_t rest = (n % kBlockBytes) / kStripeBytes;
  for (size_t s = 0; s < rest; s++) AddStripe(p + kStripeBytes * s, 8 * s, lanes);
  if (n % kStripeBytes != 0) AddStripe(data + n - kStripeBytes, 121, lanes);

  uint64_t sum = n * kPrime64_1;
  for (size_t i = 0; i < kLanes / 2; i++) {
    sum += Fold(lanes[2 * i] ^ SecretAt(11 + 16 * i), lanes[2 * i + 1] ^ SecretAt(19 + 16 * i));
  }
  return Finish(sum);
}

}  // namespace

uint64_t HashUpTo3(const char* data, size_t n) {
  // The filter format, not the hash, defines the hash of an empty key.
  if (n == 0) return Fold(kSecretAt0, kPrime64_2);
  const auto byte = [data](size_t i) { return static_cast<unsigned char>(data[i]); };
  const uint32_t combined = byte(0) | static_cast<uint32_t>(byte(n / 2)) << 8 |
                            static_cast<uint32_t>(byte(n - 1)) << 16 |
                            static_cast<uint32_t>(n) << 24;
  return Finish((combined ^ static_cast<uint32_t>(kSecretAt0)) * kPrime64_1);
}

uint64_t HashLong(const char* data, size_t n) {
  if (n <= 128) return HashUpTo128(data, n);
  if (n <= 240) return HashUpTo240(data, n);
  return HashStripes(data, n);
}

}  // namespace key_hash

}  // namespace varve
