// SPDX-License-Identifier: Apache-2.0

// Goal: slices compare, print and shrink as bytes do, and a PinnableSlice keeps or releases what it
// points to in each of its states.

#include "varve/slice.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace varve {
namespace {

void CountCleanup(void* count, void* /*unused*/) {
  ++*static_cast<int*>(count);
}

TEST(SliceTest, OrdersByUnsignedBytesThenLength) {
  const Slice ascending[] = {"", Slice("\0", 1), "a", "ab", "b", "\x7f", "\x80", "\xff"};
  const int n = static_cast<int>(std::size(ascending));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const int order = ascending[i].compare(ascending[j]);
      EXPECT_EQ(order < 0, i < j) << i << " " << j;
      EXPECT_EQ(order > 0, i > j) << i << " " << j;
      EXPECT_EQ(ascending[i] == ascending[j], i == j);
    }
  }
}

TEST(SliceTest, ANullPointerIsAnEmptySlice) {
  const Slice null(static_cast<const char*>(nullptr));
  EXPECT_TRUE(null.empty());
  EXPECT_EQ(null.compare(""), 0);
  EXPECT_TRUE(null == Slice(""));
}

TEST(SliceTest, KnowsItsEnds) {
  const Slice s("hello");
  EXPECT_TRUE(s.starts_with("he"));
  EXPECT_TRUE(s.starts_with(""));
  EXPECT_FALSE(s.starts_with("hello!"));
  EXPECT_TRUE(s.ends_with("lo"));
  EXPECT_FALSE(s.ends_with("lx"));
  EXPECT_EQ(s.difference_offset("help"), 3u);
  EXPECT_EQ(s.difference_offset("hello world"), 5u);
}

TEST(SliceTest, ShrinksFromBothEnds) {
  Slice s("hello");
  s.remove_prefix(1);
  s.remove_suffix(2);
  EXPECT_EQ(s.ToString(), "el");
  s.clear();
  EXPECT_TRUE(s.empty());
}

TEST(SliceTest, HexGoesBothWays) {
  const std::string bytes("\x00\x7f\xab\xff", 4);
  EXPECT_EQ(Slice(bytes).ToString(/*hex=*/true), "007FABFF");
  std::string back;
  EXPECT_TRUE(Slice("007FabfF").DecodeHex(&back));
  EXPECT_EQ(back, bytes);
  EXPECT_TRUE(Slice("").DecodeHex(&back));
  EXPECT_EQ(back, "");
  EXPECT_FALSE(Slice("0").DecodeHex(&back));
  EXPECT_FALSE(Slice("0g").DecodeHex(&back));
  EXPECT_FALSE(Slice("-1").DecodeHex(&back));
  EXPECT_FALSE(Slice("00").DecodeHex(nullptr));
}

TEST(SliceTest, PartsAreJoined) {
  const Slice parts[] = {"a", "", "bc"};
  std::string buffer = "old";
  EXPECT_EQ(Slice(SliceParts(parts, 3), &buffer), Slice("abc"));
  EXPECT_EQ(Slice(SliceParts(), &buffer), Slice(""));
}

TEST(PinnableSliceTest, PinnedBytesAreReleasedOnce) {
  int released = 0;
  const std::string data = "pinned bytes";
  {
    PinnableSlice s;
    s.PinSlice(data, &CountCleanup, &released, nullptr);
    EXPECT_TRUE(s.IsPinned());
    EXPECT_EQ(s.data(), data.data());
    s.remove_prefix(7);
    s.remove_suffix(1);
    EXPECT_EQ(s.ToString(), "byte");
    EXPECT_EQ(released, 0);
    s.Reset();
    EXPECT_EQ(released, 1);
    EXPECT_FALSE(s.IsPinned());
    EXPECT_TRUE(s.empty());
  }
  EXPECT_EQ(released, 1);
}

TEST(PinnableSliceTest, TakesOverAnotherObjectsCleanups) {
  int released = 0;
  PinnableSlice s;
  {
    Cleanable owner;
    for (int i = 0; i < 3; ++i) owner.RegisterCleanup(&CountCleanup, &released, nullptr);
    s.PinSlice("x", &owner);
    EXPECT_FALSE(owner.HasCleanups());
  }
  EXPECT_EQ(released, 0);
  s.Reset();
  EXPECT_EQ(released, 3);
}

TEST(PinnableSliceTest, CopiesGoToItsBuffer) {
  std::string external;
  PinnableSlice own;
  PinnableSlice lent(&external);
  for (PinnableSlice* s : {&own, &lent}) {
    s->PinSelf("hello");
    EXPECT_FALSE(s->IsPinned());
    s->remove_prefix(1);
    s->remove_suffix(1);
    EXPECT_EQ(s->ToString(), "ell");
    EXPECT_EQ(*s->GetSelf(), "ell");
    s->GetSelf()->assign("other");
    s->PinSelf();
    EXPECT_EQ(s->ToString(), "other");
  }
  EXPECT_EQ(external, "other");
}

TEST(PinnableSliceTest, MovesInEveryState) {
  int released = 0;
  std::string external;
  for (const std::string& value : {std::string("short"), std::string(1000, 'l')}) {
    PinnableSlice own;
    own.PinSelf(value);
    PinnableSlice lent(&external);
    lent.PinSelf(value);
    PinnableSlice pinned;
    pinned.PinSlice(value, &CountCleanup, &released, nullptr);
    for (PinnableSlice* source : {&own, &lent, &pinned}) {
      const bool was_pinned = source->IsPinned();
      PinnableSlice target(std::move(*source));
      EXPECT_EQ(target.ToString(), value);
      EXPECT_EQ(target.IsPinned(), was_pinned);
      EXPECT_TRUE(source->empty());
      EXPECT_FALSE(source->IsPinned());
      source->PinSelf("again");
      EXPECT_EQ(source->ToString(), "again");
      EXPECT_EQ(target.ToString(), value);
    }
  }
  EXPECT_EQ(external, std::string(1000, 'l'));
  EXPECT_EQ(released, 2);
}

TEST(PinnableSliceTest, AssignmentReleasesTheOldBytesFirst) {
  int old_released = 0;
  int new_released = 0;
  PinnableSlice target;
  target.PinSlice("old", &CountCleanup, &old_released, nullptr);
  PinnableSlice source;
  source.PinSlice("new", &CountCleanup, &new_released, nullptr);
  target = std::move(source);
  EXPECT_EQ(old_released, 1);
  EXPECT_EQ(new_released, 0);
  EXPECT_EQ(target.ToString(), "new");
  target.Reset();
  EXPECT_EQ(new_released, 1);
}

TEST(CleanableTest, CleanupsMoveWithTheObject) {
  int released = 0;
  {
    Cleanable a;
    a.RegisterCleanup(&CountCleanup, &released, nullptr);
    a.RegisterCleanup(&CountCleanup, &released, nullptr);
    Cleanable b(std::move(a));
    Cleanable c;
    c.RegisterCleanup(&CountCleanup, &released, nullptr);
    c = std::move(b);
    EXPECT_EQ(released, 1);
    EXPECT_TRUE(c.HasCleanups());
  }
  EXPECT_EQ(released, 3);
}

TEST(CleanableTest, DelegatingAddsToWhatIsThere) {
  int released = 0;
  Cleanable from;
  Cleanable to;
  for (Cleanable* c : {&from, &to}) {
    for (int i = 0; i < 2; ++i) c->RegisterCleanup(&CountCleanup, &released, nullptr);
  }
  from.DelegateCleanupsTo(&to);
  from.Reset();
  EXPECT_EQ(released, 0);
  to.Reset();
  EXPECT_EQ(released, 4);
}

TEST(SharedCleanablePtrTest, TheLastHolderRunsTheCleanups) {
  int released = 0;
  Cleanable outlives;
  {
    SharedCleanablePtr first;
    EXPECT_EQ(first.get(), nullptr);
    first.Allocate();
    first->RegisterCleanup(&CountCleanup, &released, nullptr);
    SharedCleanablePtr second = first;
    first.RegisterCopyWith(&outlives);
    second.MoveAsCleanupTo(&outlives);
    EXPECT_EQ(second.get(), nullptr);
  }
  EXPECT_EQ(released, 0);
  outlives.Reset();
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace varve
