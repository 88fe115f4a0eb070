// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes random walks of an iterator beside a model of the same entries.

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/table/table_harness.h"
#include "util/iter/internal_iterator.h"

namespace varve::test {

// Takes a batch of up to `max` entries, compares each entry only when all are there, and brings
// `*at` to the last of them, or to the model's end when there is none. Reported relations of user
// keys must be true; keys have no timestamps.
inline void RunAndCompare(InternalIterator* iter, const Model& model, Model::const_iterator* at,
                          bool forward, size_t max) {
  std::vector<BatchEntry> batch(max);
  const size_t n =
      forward ? iter->NextBatch(batch.data(), max) : iter->PrevBatch(batch.data(), max);
  ASSERT_LE(n, max);
  for (size_t i = 0; i < n; i++) {
    const std::string left = (*at)->first;
    ASSERT_TRUE(forward || *at != model.begin()) << "a run beyond the start";
    *at = forward ? std::next(*at) : std::prev(*at);
    ASSERT_NE(*at, model.end()) << "a run beyond the end";
    ASSERT_EQ(batch[i].key(), Slice((*at)->first)) << "entry " << i << " of " << n;
    ASSERT_EQ(batch[i].value(), Slice((*at)->second));
    if (batch[i].same_key == SameKey::kUnknown) continue;
    ASSERT_EQ(batch[i].same_key == SameKey::kYes,
              ExtractUserKey(left) == ExtractUserKey(batch[i].key()));
  }
  if (n != 0) return;
  const bool at_end = forward ? std::next(*at) == model.end() : *at == model.begin();
  ASSERT_TRUE(at_end) << "an empty run in the middle";
  *at = model.end();
}

// Makes `steps` random moves and compares the place after each. Targets are taken from `targets`.
inline void WalkAtRandom(InternalIterator* iter, const Model& model,
                         const std::vector<std::string>& targets, uint32_t seed, int steps) {
  std::mt19937 random(seed);
  Model::const_iterator at = model.end();
  for (int step = 0; step < steps; step++) {
    const uint32_t move = random() % 16;
    if (move == 0) {
      iter->SeekToFirst();
      at = model.begin();
    } else if (move == 1) {
      iter->SeekToLast();
      at = model.empty() ? model.end() : std::prev(model.end());
    } else if (move <= 3 || at == model.end()) {
      const std::string& target = targets[random() % targets.size()];
      if (move == 3) {
        for (const auto round : {SeekRound::kIndex, SeekRound::kBlock, SeekRound::kEntry}) {
          iter->PrefetchSeek(target, round);
        }
      }
      iter->Seek(target);
      at = model.lower_bound(target);
    } else if (move <= 5) {
      const std::string& target = targets[random() % targets.size()];
      iter->SeekForPrev(target);
      at = model.upper_bound(target);
      at = at == model.begin() ? model.end() : std::prev(at);
    } else if (move <= 7) {
      RunAndCompare(iter, model, &at, true, 1 + random() % 20);
    } else if (move <= 9) {
      RunAndCompare(iter, model, &at, false, 1 + random() % 20);
    } else if (move <= 12) {
      iter->Next();
      ++at;
    } else {
      iter->Prev();
      at = at == model.begin() ? model.end() : std::prev(at);
    }
    if (::testing::Test::HasFatalFailure()) FAIL() << "step " << step << ", move " << move;
    ASSERT_TRUE(SamePlace(*iter, model, at)) << "after step " << step << ", move " << move;
    ASSERT_TRUE(iter->status().ok()) << iter->status().ToString();
  }
}

// Keys present, keys between and beyond, with sequence numbers around those present.
inline std::vector<std::string> TargetsFor(const Model& model, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::string> targets = {IKey("", 5), IKey(std::string(20, '\xff'), 5)};
  for (const auto& [key, value] : model) {
    targets.push_back(key);
    std::string user_key = ExtractUserKey(key).ToString();
    const SequenceNumber seq = ExtractSequence(key);
    targets.push_back(IKey(user_key, seq + 1));
    targets.push_back(IKey(user_key, seq - (seq > 0 ? 1 : 0)));
    switch (random() % 4) {
      case 0:
        user_key.push_back('\0');
        break;
      case 1:
        if (!user_key.empty()) user_key.pop_back();
        break;
      case 2:
        if (!user_key.empty()) user_key[random() % user_key.size()]++;
        break;
      default:
        if (!user_key.empty()) user_key.back()--;
        break;
    }
    targets.push_back(IKey(user_key, kMaxSequenceNumber, kValueTypeForSeek));
  }
  return targets;
}

// User keys that share prefixes, have prefixes of each other, and hold extreme bytes.
inline std::string RandomUserKey(std::mt19937* random, size_t alphabet, size_t longest) {
  std::string key;
  const size_t n = (*random)() % (longest + 1);
  static constexpr char kBytes[] = {'a', 'b', '\0', '\xff', 'c', 'd', '\x01', '\x80'};
  for (size_t i = 0; i < n; i++) key.push_back(kBytes[(*random)() % alphabet]);
  return key;
}

}  // namespace varve::test
