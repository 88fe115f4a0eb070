// SPDX-License-Identifier: Apache-2.0
// Turns numbers into keys: [prefix number, '0' to --prefix_size] number, '0' to --key_size; both
// numbers big-endian in at most 8 bytes, of which the low ones are kept when there is less room.

#include "tools/db_bench/keys.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "varve/comparator.h"
#include "varve/db.h"

#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

// Fills out[0, room) with the low bytes of `number`, most significant first, then '0's.
void PutNumber(uint64_t number, size_t room, char* out) {
  const size_t bytes = std::min<size_t>(room, 8);
  for (size_t i = 0; i < bytes; ++i) {
    out[i] = static_cast<char>(number >> (8 * (bytes - 1 - i)));
  }
  std::memset(out + bytes, '0', room - bytes);
}

// At least one, as numbers are taken modulo this count when it is not 0.
uint64_t CountPrefixes(int64_t num) {
  if (FLAGS_keys_per_prefix <= 0) return 0;
  return std::max<uint64_t>(1, static_cast<uint64_t>(num / FLAGS_keys_per_prefix));
}

// Constants of the published skewed key stream, that of RocksDB's db_bench: how finely the unit
// interval is cut, and the factor that scatters popular keys over the key space. Other values would
// work as well, but runs would read other keys than those they are compared with.
constexpr uint64_t kSteps = uint64_t{1} << 62;
constexpr uint64_t kScatter = 0x5bd1e995;

}  // namespace

uint64_t DrawReadNumber(Random& random, int64_t num) {
  const auto space = static_cast<uint64_t>(num);
  if (FLAGS_read_random_exp_range == 0.0) return random.Below(space);
  // The logarithm of the rank is uniform over --read_random_exp_range, so a rank's share of reads
  // falls as 1/rank.
  const long double position = static_cast<long double>(random.Below(kSteps)) / kSteps;
  const long double share = std::exp(-position * FLAGS_read_random_exp_range);
  return static_cast<uint64_t>(share * static_cast<long double>(space)) * kScatter % space;
}

KeyMaker::KeyMaker(int key_size, int64_t num, const std::vector<std::string>* existing)
    : key_size_(key_size),
      num_(static_cast<uint64_t>(num)),
      prefixes_(CountPrefixes(num)),
      existing_(existing),
      buffer_(static_cast<size_t>(key_size), '0') {}

Slice KeyMaker::Make(uint64_t number) {
  if (existing_ != nullptr) return (*existing_)[number % existing_->size()];
  MakeInto(number, buffer_.data());
  return buffer_;
}

void KeyMaker::MakeInto(uint64_t number, char* out) const {
  const size_t prefix = prefix_bytes();
  if (prefixes_ > 0) PutNumber(number % prefixes_, prefix, out);
  PutNumber(number, static_cast<size_t>(key_size_) - prefix, out + prefix);
}

size_t KeyMaker::prefix_bytes() const {
  if (prefixes_ == 0) return 0;
  return static_cast<size_t>(std::min(key_size_, FLAGS_prefix_size));
}

Slice KeyMaker::MakeBefore(uint64_t number, uint64_t places) {
  return Make(number - std::min(places, CountBefore(number)) * stride());
}

// Without prefixes the numbers are the order, and a key past the end becomes that of `num_`, which
// sorts after every key that is written.
bool KeyMaker::MakeAfter(uint64_t number, uint64_t places, Slice* key) {
  if (existing_ != nullptr && places >= existing_->size() - number % existing_->size())
    return false;
  const uint64_t after = number + places * stride();
  *key = Make(stride() == 1 ? std::min(after, num_) : after);
  return true;
}

bool KeyMaker::HoldsAllNumbers() const {
  const auto holds = [](size_t bytes, uint64_t count) {
    return bytes >= 8 || count <= uint64_t{1} << (8 * bytes);
  };
  const size_t prefix = prefix_bytes();
  return holds(static_cast<size_t>(key_size_) - prefix, num_) && holds(prefix, prefixes_);
}

FillOrder::FillOrder(Kind kind, int64_t num, uint64_t seed, Random* random)
    : kind_(kind), num_(static_cast<uint64_t>(num)), random_(random) {
  if (kind_ != Kind::kUniqueRandom) return;
  permutation_.resize(num_);
  for (uint64_t i = 0; i < num_; ++i) permutation_[i] = i;
  std::mt19937_64 engine(seed);
  std::shuffle(permutation_.begin(), permutation_.end(), engine);
}

uint64_t FillOrder::Next() {
  if (kind_ == Kind::kSequential) return next_++;
  return kind_ == Kind::kRandom ? random_->Below(num_) : NextUnique();
}

// Next number of the permutation or, with --overwrite_probability, one of the last
// --overwrite_window_size numbers that were given out. A repeated number does not use up a new one,
// so that more writes than keys are possible only with overwrites.
uint64_t FillOrder::NextUnique() {
  const bool again = FLAGS_overwrite_probability > 0.0 && next_ > 0 &&
                     random_->Share() < FLAGS_overwrite_probability;
  if (again) {
    const uint64_t window = std::clamp<uint64_t>(FLAGS_overwrite_window_size, 1, next_);
    return permutation_[next_ - 1 - random_->Below(window)];
  }
  if (next_ == num_) Fail("filluniquerandom: more writes than distinct keys");
  return permutation_[next_++];
}

std::vector<std::string> LoadKeys(DB* db) {
  std::vector<std::string> keys;
  ReadOptions options;
  // Without it an iterator of a database with prefixes may leave keys out once it has passed the
  // end of a prefix.
  options.total_order_seek = true;
  const Slice newest = MaxU64Ts();
  if (FLAGS_user_timestamp_size != 0) options.timestamp = &newest;
  const std::unique_ptr<Iterator> it(db->NewIterator(options));
  for (it->SeekToFirst(); it->Valid(); it->Next()) keys.push_back(it->key().ToString());
  if (!it->status().ok()) Fail("reading the existing keys", it->status());
  if (keys.empty()) Fail("--use_existing_keys: the database holds no keys");
  return keys;
}

}  // namespace varve::bench
