// SPDX-License-Identifier: Apache-2.0
#include "util/key/prefix_sort.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

namespace varve {
namespace {

struct NumberedSlot {
  uint64_t prefix;
  uint32_t tie;
  friend bool operator==(const NumberedSlot&, const NumberedSlot&) = default;
};

bool IsBefore(const NumberedSlot& a, const NumberedSlot& b) {
  return a.prefix != b.prefix ? a.prefix < b.prefix : a.tie > b.tie;
}

// Whatever bytes prefixes differ in, as a comparison sort has it.
TEST(PrefixSortTest, IsTheOrderOfAComparisonSort) {
  std::mt19937_64 random(7);
  const auto text = [&random] {
    uint64_t digits = 0;
    for (int i = 0; i < 8; i++) digits = digits << 8 | ('0' + random() % 10);
    return digits;
  };
  const std::vector<std::function<uint64_t()>> kinds = {
      [&] { return random(); },
      [&] { return random() % 3; },
      [&] { return random() % 1000 << 40; },
      [&] { return random() & 0xff000000000000ff; },
      [&] { return uint64_t{0}; },
      [&] { return ~(random() % 70'000); },
      text,
  };
  for (const size_t n : {0, 1, 2, 63, 64, 65, 1000, 20'000}) {
    for (size_t kind = 0; kind < kinds.size(); kind++) {
      std::vector<NumberedSlot> slots;
      for (uint32_t i = 0; i < n; i++) slots.push_back({kinds[kind](), i});
      std::vector<NumberedSlot> expected = slots;
      std::sort(expected.begin(), expected.end(), IsBefore);
      SortByPrefix(&slots, IsBefore);
      ASSERT_EQ(slots, expected) << n << " slots, kind " << kind;
    }
  }
}

TEST(PrefixSortTest, LetsOutWhatTheOrderThrows) {
  std::vector<NumberedSlot> slots(100, {1, 2});
  const auto throws = [](const NumberedSlot&, const NumberedSlot&) -> bool {
    throw std::runtime_error("no order");
  };
  EXPECT_THROW(SortByPrefix(&slots, throws), std::runtime_error);
}

}  // namespace
}  // namespace varve
