// SPDX-License-Identifier: Apache-2.0

// Goal: the built-in prefix extractors take the prefixes that their names promise, also of short
// keys, and can be read back from their names.

#include "varve/slice_transform.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "varve/convenience.h"

namespace varve {
namespace {

using Transform = std::unique_ptr<const SliceTransform>;

TEST(SliceTransformTest, FixedNeedsItsWholeLength) {
  const Transform fixed(NewFixedPrefixTransform(3));
  EXPECT_STREQ(fixed->Name(), "rocksdb.FixedPrefix.3");
  EXPECT_FALSE(fixed->InDomain("ab"));
  EXPECT_TRUE(fixed->InDomain("abc"));
  EXPECT_EQ(fixed->Transform("abcd"), "abc");
  EXPECT_EQ(fixed->Transform("abc"), "abc");
  EXPECT_TRUE(fixed->SameResultWhenAppended("abc"));
  EXPECT_FALSE(fixed->SameResultWhenAppended("ab"));
  size_t length = 0;
  EXPECT_TRUE(fixed->FullLengthEnabled(&length));
  EXPECT_EQ(length, 3u);
}

TEST(SliceTransformTest, CappedTakesShortKeysWhole) {
  const Transform capped(NewCappedPrefixTransform(3));
  EXPECT_STREQ(capped->Name(), "rocksdb.CappedPrefix.3");
  EXPECT_TRUE(capped->InDomain(""));
  EXPECT_EQ(capped->Transform("ab"), "ab");
  EXPECT_EQ(capped->Transform("abcd"), "abc");
  EXPECT_TRUE(capped->SameResultWhenAppended("abc"));
  EXPECT_FALSE(capped->SameResultWhenAppended("ab"));
}

TEST(SliceTransformTest, NoopTakesTheKey) {
  const Transform noop(NewNoopTransform());
  EXPECT_STREQ(noop->Name(), "rocksdb.Noop");
  EXPECT_EQ(noop->Transform("abcd"), "abcd");
  EXPECT_FALSE(noop->SameResultWhenAppended("abcd"));
  size_t length = 0;
  EXPECT_FALSE(noop->FullLengthEnabled(&length));
}

TEST(SliceTransformTest, PrefixesAreTheirOwnPrefixes) {
  for (const SliceTransform* t :
       {NewFixedPrefixTransform(2), NewCappedPrefixTransform(2), NewNoopTransform()}) {
    const Transform transform(t);
    for (const char* key : {"ab", "abc", "zzzz"}) {
      const Slice prefix = transform->Transform(key);
      ASSERT_TRUE(transform->InDomain(prefix));
      EXPECT_EQ(transform->Transform(prefix), prefix);
      EXPECT_TRUE(transform->InRange(prefix));
    }
  }
}

struct NamedTransform {
  const char* text;
  // Null: refused.
  const char* id;
};

TEST(SliceTransformTest, IsReadFromText) {
  const NamedTransform kCases[] = {
      {"fixed:7", "rocksdb.FixedPrefix.7"},
      {"rocksdb.FixedPrefix.7", "rocksdb.FixedPrefix.7"},
      {"capped:8", "rocksdb.CappedPrefix.8"},
      {"rocksdb.CappedPrefix.8", "rocksdb.CappedPrefix.8"},
      {"rocksdb.Noop", "rocksdb.Noop"},
      {"fixed:", nullptr},
      {"fixed:x", nullptr},
      {"fixed:7x", nullptr},
      {"fixed:-1", nullptr},
      {"fixed:99999999999999999999999", nullptr},
      {"rocksdb.FixedPrefix", nullptr},
      {"noop", nullptr},
      {"mine", nullptr},
  };
  const ConfigOptions config;
  for (const NamedTransform& c : kCases) {
    SCOPED_TRACE(c.text);
    std::shared_ptr<const SliceTransform> result;
    const Status s = SliceTransform::CreateFromString(config, c.text, &result);
    if (c.id == nullptr) {
      EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
      EXPECT_EQ(result, nullptr);
      continue;
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(result->AsString(), c.id);
  }
}

TEST(SliceTransformTest, NothingIsReadFromNothing) {
  const ConfigOptions config;
  for (const char* text : {"", "nullptr"}) {
    std::shared_ptr<const SliceTransform> result(NewNoopTransform());
    EXPECT_TRUE(SliceTransform::CreateFromString(config, text, &result).ok());
    EXPECT_EQ(result, nullptr);
  }
}

}  // namespace
}  // namespace varve
