// SPDX-License-Identifier: Apache-2.0
// The pool consists of pieces of 100 bytes; --compression_ratio of each is random and is repeated
// to fill the piece, so that a codec finds about that much to remove.

#include "tools/db_bench/values.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

constexpr size_t kPieceBytes = 100;
constexpr size_t kLeastPoolBytes = size_t{1} << 20;
constexpr uint64_t kPoolSeed = 301;

void AppendPiece(std::mt19937_64& engine, size_t random_bytes, std::string* out) {
  const size_t start = out->size();
  for (size_t i = 0; i < random_bytes; ++i) {
    out->push_back(static_cast<char>(' ' + engine() % 95));
  }
  for (size_t i = random_bytes; i < kPieceBytes; ++i) {
    out->push_back((*out)[start + i - random_bytes]);
  }
}

}  // namespace

ValuePool::ValuePool(size_t largest) {
  const size_t wanted = std::max(kLeastPoolBytes, largest);
  const double share = std::clamp(FLAGS_compression_ratio, 0.0, 1.0);
  const size_t random_bytes = std::max<size_t>(1, static_cast<size_t>(share * kPieceBytes));
  std::mt19937_64 engine(kPoolSeed);
  bytes_.reserve(wanted + kPieceBytes);
  while (bytes_.size() < wanted) AppendPiece(engine, random_bytes, &bytes_);
}

ValueStream::ValueStream(const ValuePool& pool, size_t size) : pool_(pool), size_(size) {}

Slice ValueStream::Next(size_t size) {
  if (position_ + size > pool_.bytes().size()) position_ = 0;
  const Slice value(pool_.bytes().data() + position_, size);
  position_ += size;
  return value;
}

size_t ValueStream::DrawSize() {
  const int least = FLAGS_value_size_min;
  const int most = FLAGS_value_size_max;
  if (FLAGS_value_size_distribution_type == "uniform") {
    return static_cast<size_t>(std::uniform_int_distribution<int>(least, most)(sizes_));
  }
  if (FLAGS_value_size_distribution_type == "normal") {
    // The bounds contain all but 0.3% of the draws.
    std::normal_distribution<double> normal((least + most) / 2.0, (most - least) / 6.0);
    const double drawn = std::clamp<double>(std::round(normal(sizes_)), least, most);
    return static_cast<size_t>(drawn);
  }
  return static_cast<size_t>(FLAGS_value_size);
}

size_t LargestValue() {
  const bool fixed = FLAGS_value_size_distribution_type == "fixed";
  return static_cast<size_t>(fixed ? FLAGS_value_size : FLAGS_value_size_max);
}

size_t MeanValue() {
  if (FLAGS_value_size_distribution_type == "fixed") return static_cast<size_t>(FLAGS_value_size);
  return (static_cast<size_t>(FLAGS_value_size_min) + static_cast<size_t>(FLAGS_value_size_max)) /
         2;
}

bool CheckValueFlags() {
  const std::string& kind = FLAGS_value_size_distribution_type;
  if (kind != "fixed" && kind != "uniform" && kind != "normal") {
    std::fprintf(stderr, "--value_size_distribution_type=%s: fixed, uniform or normal\n",
                 kind.c_str());
    return false;
  }
  if (FLAGS_value_size < 0 || FLAGS_value_size_min < 0 ||
      FLAGS_value_size_min > FLAGS_value_size_max) {
    std::fprintf(stderr,
                 "--value_size must not be negative, nor --value_size_min exceed "
                 "--value_size_max\n");
    return false;
  }
  return true;
}

}  // namespace varve::bench
