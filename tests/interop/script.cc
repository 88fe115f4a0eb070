// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/script.h"

#include <cstdio>
#include <set>

namespace varve::testing {

namespace {

constexpr uint64_t kKeys = 700;
constexpr int kBatchesARound = 160;
constexpr size_t kLargeValue = 90000;

std::string NumberedKey(const char* prefix, uint64_t k) {
  char text[32];
  snprintf(text, sizeof(text), "%s%06llu", prefix, static_cast<unsigned long long>(k));
  return text;
}

// Returns mostly numbers, and now and then a key that is hard to encode.
std::string RandomKey(const Content& content, Random* random) {
  const uint64_t k = random->Below(kKeys);
  if (content.plain_keys) return NumberedKey("key", k);
  switch (random->Below(24)) {
    case 0:
      return std::string(1 + k % 3, '\0');
    case 1:
      return std::string(1 + k % 9, '\xff');
    case 2:
      return NumberedKey("key", k) + std::string(k % 5, '\0');
    case 3:
      return std::string(300, 'q') + NumberedKey("", k % 7);
    case 4:
      return k % 2 == 0 ? "" : "key";
    default:
      return NumberedKey("key", k);
  }
}

}  // namespace

std::string ToHex(const std::string& bytes) {
  if (bytes.empty()) return "-";
  static const char kDigits[] = "0123456789ABCDEF";
  std::string text;
  for (unsigned char c : bytes) {
    text.push_back(kDigits[c >> 4]);
    text.push_back(kDigits[c & 15]);
  }
  return text;
}

void Script::Do(const Change& change) {
  static const char* const kVerbs[] = {"put", "del", "sdel", "range", "merge"};
  std::string line =
      std::string(kVerbs[change.kind]) + " " + change.family + " " + ToHex(change.key);
  if (change.kind != Change::kDelete && change.kind != Change::kSingleDelete) {
    line += " " + ToHex(change.value);
  }
  Line(line);
  state_.Apply(change);
}

void Script::DoEntity(const Change& put) {
  Line("entity " + put.family + " " + ToHex(put.key) + " " + ToHex(put.value));
  state_.Apply(put);
}

Change Script::RandomChange(const Content& content, Random* random, const std::string& family) {
  const uint64_t dice = random->Below(100);
  if (dice < 2 && content.range_deletes) {
    const uint64_t k = random->Below(kKeys);
    const bool long_one = random->OneIn(4);
    return Change{Change::kDeleteRange, family, NumberedKey("key", k),
                  NumberedKey("key", k + random->Below(long_one ? 200 : 15))};
  }
  if (dice < 14) return Change{Change::kDelete, family, RandomKey(content, random), ""};
  if (dice < 22 && content.single_deletes) {
    // Even numbers are put in their turn; every third is deleted some turns later.
    const uint64_t turn = once_++;
    if (turn % 3 == 2 && turn > 20) {
      const std::string key = NumberedKey("once", turn - 20);
      return Change{Change::kSingleDelete, content.families[0], key, ""};
    }
    return Change{Change::kPut, content.families[0], NumberedKey("once", turn), "o"};
  }
  std::string value;
  if (!random->OneIn(20)) value = random->Text(random->Below(160));
  if (content.large_values && random->OneIn(60)) {
    value = random->Text(kLargeValue + random->Below(kLargeValue));
  }
  return Change{Change::kPut, family, RandomKey(content, random), value};
}

void Script::WriteRound(const Content& content, Random* random) {
  for (int b = 0; b < kBatchesARound; b++) {
    const uint64_t changes = random->OneIn(3) ? 1 + random->Below(6) : 1;
    if (changes > 1) Line("batch");
    for (uint64_t c = 0; c < changes; c++) {
      const std::string& family = content.families[random->Below(content.families.size())];
      Do(RandomChange(content, random, family));
    }
    if (changes > 1) {
      if (random->OneIn(10)) Line("sync");
      Line("write");
    }
    if (content.snapshots && b % 50 == 25) Line("snapshot");
  }
}

void Script::Write(const Content& content) {
  Random random(content.seed * 1000003);
  for (int round = 0; round < content.rounds; round++) {
    WriteRound(content, &random);
    for (const std::string& family : content.families) Line("flush " + family);
    if (content.compactions && round % 2 == 1) {
      for (const std::string& family : content.families) Line("compact " + family);
    }
  }
  if (content.snapshots) Line("release");
  if (content.pending) WriteRound(content, &random);
}

void Script::Expect(const ReferenceState& state) {
  std::set<std::string> absent = {std::string(40, '\xff'), "key999999", "kex", "z"};
  for (uint64_t k = 0; k < kKeys; k += 3) absent.insert(NumberedKey("key", k));
  for (const auto& [family, keys] : state.families) {
    uint64_t i = 0;
    for (const auto& [key, value] : keys) {
      if (i++ % 7 == 0) absent.insert(key + '\0');
    }
  }
  Expect(state, absent);
}

void Script::Expect(const ReferenceState& state, const std::set<std::string>& absent) {
  for (const auto& [family, keys] : state.families) {
    for (const auto& [key, value] : keys) {
      Line("want " + family + " " + ToHex(key) + " " + ToHex(value));
    }
    for (const std::string& key : absent) {
      if (keys.count(key) == 0) Line("absent " + family + " " + ToHex(key));
    }
  }
  Line("check");
}

}  // namespace varve::testing
