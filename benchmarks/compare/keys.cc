// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/keys.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace compare {
namespace {

constexpr double kExponent = 0.99;
constexpr size_t kPoolSize = size_t{1} << 20;
constexpr size_t kPiece = 100;  // bytes; the second half repeats the first

std::string MakePool() {
  std::string pool(kPoolSize, ' ');
  Random random(301);
  for (size_t begin = 0; begin < kPoolSize; begin += kPiece) {
    const size_t end = std::min(begin + kPiece, kPoolSize);
    for (size_t i = begin; i < end; i++) {
      const bool fresh = i < begin + kPiece / 2;
      pool[i] = fresh ? static_cast<char>(' ' + random.Below(95)) : pool[i - kPiece / 2];
    }
  }
  return pool;
}

double Zeta(uint64_t n) {
  double sum = 0;
  for (uint64_t i = 1; i <= n; i++) sum += std::pow(static_cast<double>(i), -kExponent);
  return sum;
}

}  // namespace

Zipfian::Zipfian(uint64_t n) : n_(n), zeta_(Zeta(n)), alpha_(1 / (1 - kExponent)) {
  eta_ = (1 - std::pow(2.0 / static_cast<double>(n), 1 - kExponent)) / (1 - Zeta(2) / zeta_);
}

uint64_t Zipfian::Rank(Random* random) const {
  const double u = random->Share();
  const double at = u * zeta_;
  if (at < 1) return 0;
  if (at < 1 + std::pow(0.5, kExponent)) return std::min<uint64_t>(1, n_ - 1);
  const double rank = static_cast<double>(n_) * std::pow(eta_ * u - eta_ + 1, alpha_);
  return std::min(static_cast<uint64_t>(rank), n_ - 1);
}

Values::Values(size_t size) : value_(size, ' ') {}

std::string_view Values::Of(uint64_t stamp, uint64_t version) {
  static const std::string pool = MakePool();
  const size_t text = value_.size() - sizeof(stamp);
  const size_t at = (stamp + version) * 131 % (pool.size() - text);
  std::memcpy(value_.data(), &stamp, sizeof(stamp));
  std::memcpy(value_.data() + sizeof(stamp), pool.data() + at, text);
  return value_;
}

}  // namespace compare
