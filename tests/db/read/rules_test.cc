// SPDX-License-Identifier: Apache-2.0

// Goal: a build with assertions stops a caller that breaks a rule of walks or of point reads.

#include "db/read/covered_jump.h"
#include "db/read/get.h"
#include "db/read/merge_read.h"
#include "db/read/multi_get.h"
#include "db/read/timestamp_order.h"
#include "db/read/user_key_walk.h"
#include "db/read/version_iterators.h"
#include "table/iterator/merging_iterator.h"
#include "tests/db/broken_rules.h"
#include "tests/db/version/drawn_tree.h"

namespace varve::rules_of_read {
namespace {

SuperVersion* Empty() {
  return new SuperVersion(1, nullptr, {}, DrawTree(""), std::make_shared<ColumnFamilyOptions>(),
                          nullptr);
}

struct Walk {
  Walk() : tombstones(BytewiseOrder()) {
    UserKeyWalk::Settings settings;
    settings.options = &options;
    settings.icmp = &BytewiseOrder();
    walk.Init(settings, &tombstones);
  }
  ReadOptions options;
  TombstoneSet tombstones;
  UserKeyWalk walk;
};

TEST(ReadRules, BreakingOneEndsTheProcess) {
  ExpectDeaths({
      {"source != nullptr", [] { Walk().walk.SetSource(nullptr); }},
      {"!status.ok()", [] { Walk().walk.Fail(Status::OK()); }},
      {"valid_ && status_.ok()", [] { Walk().walk.Next(); }},
      {"valid_ && status_.ok()", [] { Walk().walk.Prev(); }},
      {"source->Valid() && place.internal.size() >= kInternalKeyTrailerBytes",
       [] {
         TombstoneSet tombstones(BytewiseOrder());
         CoveredJump jump;
         jump.Init(&BytewiseOrder(), &tombstones);
         (void)jump.Leave(NewEmptyInternalIterator().get(), {}, 1);
       }},
      {"lookup->state() == PointLookup::State::kSearching",
       [] {
         PointLookup lookup("key", 1, nullptr);
         lookup.Fail(Status::IOError("before"));
         (void)GetFromSuperVersion(ReadOptions(), *Empty(), &lookup, nullptr);
       }},
      {"operands != nullptr",
       [] {
         PointLookup lookup("key", 1, nullptr);
         PinnableSlice value;
         (void)MergeForRead(ReadOptions(), *Empty(), &lookup, &value, nullptr);
       }},
      {"lookup->has_timestamp()",
       [] {
         PointLookup lookup("key", 1, nullptr);
         NoteTimestampOrder(ReadOptions(), *Empty(), {}, &lookup);
       }},
      {"valid_ && index_ < files_.size()",
       [] {
         const ReadOptions options;
         NewLevelIterator(&DrawTree("")->level(1), 1, nullptr, &BytewiseOrder(), options, {},
                          nullptr)
             ->Next();
       }},
  });
}

}  // namespace
}  // namespace varve::rules_of_read
