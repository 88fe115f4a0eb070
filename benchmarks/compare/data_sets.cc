// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/data_sets.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "benchmarks/compare/keys.h"

namespace compare {
namespace {

constexpr size_t kBatch = 1000;  // entries that are written at once, as only the result counts

// Returns the numbers 0 to count - 1, each modulo n, shuffled.
std::vector<uint64_t> Shuffled(uint64_t count, uint64_t n, uint64_t seed) {
  std::vector<uint64_t> numbers(count);
  for (uint64_t i = 0; i < count; i++) numbers[i] = i % n;
  Random random(seed);
  for (uint64_t i = count; i > 1; i--) std::swap(numbers[i - 1], numbers[random.Below(i)]);
  return numbers;
}

}  // namespace

uint64_t LargeKeys(const Scale& scale) {
  return std::max<uint64_t>(scale.n * 3 / 10, 1);
}

uint64_t YcsbKeys(const Scale& scale) {
  return std::max<uint64_t>(scale.n / 5, 2);
}

void BuildDataSet(const std::string& name, Engine* engine, const std::string& path,
                  const Scale& scale) {
  Settings settings;
  settings.compresses = scale.compresses;
  uint64_t keys = scale.n;
  uint64_t writes = scale.n;
  if (name == kRuns) {
    settings.compacts = false;
    settings.write_buffer = size_t{8} << 20;
    writes = 2 * scale.n;
  } else if (name == kLog) {
    writes = std::max<uint64_t>(scale.n / 4, 1);
  } else if (name == kLarge) {
    keys = writes = LargeKeys(scale);
  } else if (name == kYcsb) {
    keys = writes = YcsbKeys(scale);
  }
  const bool scattered = name == kYcsb;
  Values values(name == kLarge || name == kYcsb ? kLargeValueSize : kValueSize);
  engine->Open(path, settings);
  {
    const std::unique_ptr<Session> session = engine->NewSession();
    uint64_t written = 0;
    for (const uint64_t i : Shuffled(writes, keys, scale.seed)) {
      session->BatchPut(Key(scattered ? Scramble(i) : i).view(), values.Of(i));
      if (++written % kBatch == 0) session->BatchWrite(Durability::kLogged);
    }
    session->BatchWrite(Durability::kLogged);
  }
  if (name == kFull || name == kLarge) engine->Compact();
  engine->Close();
}

}  // namespace compare
