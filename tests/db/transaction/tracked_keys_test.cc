// SPDX-License-Identifier: Apache-2.0
#include "db/transaction/tracked_keys.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>

namespace varve {
namespace {

// Compares with a map, for few keys and many; hashes collide, as there are only a few.
TEST(TrackedKeysTest, FindsWhatIsInUse) {
  std::mt19937 random(3);
  TrackedKeys keys;
  for (const uint32_t range : {4u, 2000u, 40u}) {
    std::map<std::pair<uint32_t, std::string>, SequenceNumber> model;
    for (int i = 0; i < 4000; i++) {
      const uint32_t family = random() % 2;
      const std::string name = std::string(random() % 3, 'k') + std::to_string(random() % range);
      const uint64_t hash = std::hash<std::string>()(name) % 64 * 0x10001;
      TrackedKey* const found = keys.Find(family, name, hash);
      const auto known = model.find({family, name});
      ASSERT_EQ(found != nullptr, known != model.end());
      if (found != nullptr) {
        ASSERT_EQ(found->unchanged_since, known->second);
        ASSERT_EQ(found->key, name);
      }
      if (random() % 3 == 0 && found != nullptr) {
        found->reads = found->writes = 0;
        model.erase(known);
        continue;
      }
      bool added = false;
      TrackedKey* const key = keys.FindOrAdd(family, name, hash, /*bucket=*/hash, &added);
      ASSERT_EQ(added, found == nullptr);
      key->writes = 1;
      key->unchanged_since = static_cast<SequenceNumber>(i);
      model[{family, name}] = key->unchanged_since;
    }
    ASSERT_EQ(keys.CountInUse(), model.size());
    size_t seen = 0;
    for (const TrackedKey* key = keys.first(); key != nullptr; key = key->next) {
      if (!key->in_use()) continue;
      seen++;
      ASSERT_EQ(model.at({key->family, key->key.ToString()}), key->unchanged_since);
    }
    ASSERT_EQ(seen, model.size());
    EXPECT_GT(keys.bytes(), 0u);
    keys.Clear();
    EXPECT_EQ(keys.CountInUse(), 0u);
    EXPECT_EQ(keys.bytes(), 0u);
    EXPECT_EQ(keys.first(), nullptr);
  }
}

}  // namespace
}  // namespace varve
