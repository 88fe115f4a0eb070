// SPDX-License-Identifier: Apache-2.0
#pragma once

// A checksum of what was read, which exposes a library that is fast because it answers wrongly: all
// libraries must reach the same digest in a row. It depends on the order of reads within a thread.
// The digests of threads are summed, so their order does not matter.

#include <cstdint>
#include <cstring>
#include <string_view>

namespace compare {

class Digest {
 public:
  // The part of a value that counts. kStamps covers only the key's number at its beginning, which
  // does not depend on which of two writes came first.
  enum class Covers { kWhole, kStamps };

  explicit Digest(Covers covers = Covers::kWhole) : covers_(covers) {}

  void Add(uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 32;
    count_++;
  }
  // Does what AddValue() does for a value with that stamp when only stamps count.
  void AddStamp(uint64_t stamp) { Add(stamp * kStampFactor); }
  void AddValue(std::string_view value) { Add(WordOf(value)); }
  void AddEntry(std::string_view key, std::string_view value) {
    const uint64_t word = WordOf(value);
    if (count_ == 0 && value.size() >= 8) first_stamp_ = Load(value.data());
    Add(word + (key.size() < 8 ? key.size() : Load(key.data()) * 0xff51afd7ed558ccdu));
  }
  // Adds the digest of another thread.
  void Join(const Digest& other) {
    state_ += other.state_;
    count_ += other.count_;
  }

  uint64_t state() const { return state_; }
  uint64_t count() const { return count_; }
  uint64_t first_stamp() const { return first_stamp_; }  // the entries' first stamp

 private:
  static constexpr uint64_t kStampFactor = 0xc4ceb9fe1a85ec53u;

  static uint64_t Load(const char* from) {
    uint64_t word = 0;
    std::memcpy(&word, from, sizeof(word));
    return word;
  }
  uint64_t WordOf(std::string_view value) const {
    if (value.size() < 8) return value.size();
    const uint64_t stamp = Load(value.data()) * kStampFactor;
    if (covers_ == Covers::kStamps) return stamp;
    return stamp + Load(value.data() + value.size() - 8) + value.size();
  }

  Covers covers_;
  uint64_t state_ = 0;
  uint64_t count_ = 0;
  uint64_t first_stamp_ = 0;
};

}  // namespace compare
