// SPDX-License-Identifier: Apache-2.0

// Goal: iterators and snapshots answer as db.h and options.h say, whatever was flushed in between.
// Method: one story for each capability of Iterator and ReadOptions, told over memtables and
// tables.

#include <gmock/gmock.h>

#include <chrono>
#include <future>

#include "varve/compaction_filter.h"
#include "varve/filter_policy.h"
#include "varve/slice_transform.h"
#include "varve/snapshot.h"
#include "varve/table.h"

#include "db/api/db_impl.h"
#include "tests/harness/database.h"

namespace varve::testing {
namespace {

class DbIteratorStory : public Database {
 protected:
  std::unique_ptr<Iterator> New(const ReadOptions& options = ReadOptions()) {
    return std::unique_ptr<Iterator>(db()->NewIterator(options));
  }
  static std::string At(const Iterator& it) {
    return it.Valid() ? it.key().ToString() : it.status().ok() ? "end" : it.status().ToString();
  }
};

TEST_F(DbIteratorStory, AStepFromNowhereLeadsNowhere) {
  Open();
  for (int tables = 0; tables < 2; tables++) {
    const auto it = New();
    it->Next();
    EXPECT_EQ(At(*it), "end");
    it->Prev();
    EXPECT_EQ(At(*it), "end");
    for (it->SeekToFirst(); it->Valid();) it->Next();
    it->Next();
    EXPECT_EQ(At(*it), "end");
    for (it->SeekToLast(); it->Valid();) it->Prev();
    it->Prev();
    EXPECT_EQ(At(*it), "end");
    MakeTable({"a", "b"});
    Put("c", "memory");
  }
}

TEST_F(DbIteratorStory, MovesBothWays) {
  Open();
  MakeTable({"b", "d"});
  Put("f", "memory");
  Put("c", "gone");
  Delete("c");
  const auto it = New();
  EXPECT_FALSE(it->Valid());
  it->SeekToLast();
  EXPECT_EQ(At(*it), "f");
  it->Prev();
  EXPECT_EQ(At(*it), "d");
  it->Next();
  EXPECT_EQ(At(*it), "f");
  it->Next();
  EXPECT_EQ(At(*it), "end");
  struct Case {
    const char* target;
    const char* seek;
    const char* seek_for_prev;
  };
  for (const Case& c : {Case{"a", "b", "end"}, Case{"b", "b", "b"}, Case{"c", "d", "b"},
                        Case{"e", "f", "d"}, Case{"z", "end", "f"}}) {
    SCOPED_TRACE(c.target);
    it->Seek(c.target);
    EXPECT_EQ(At(*it), c.seek);
    it->SeekForPrev(c.target);
    EXPECT_EQ(At(*it), c.seek_for_prev);
  }
}

TEST_F(DbIteratorStory, BoundsHoldForEveryMove) {
  Open();
  for (const char* key : {"a", "b", "c", "d", "e"}) Put(key, key);
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    const Slice lower("b");
    const Slice upper("e");
    ReadOptions options;
    options.iterate_lower_bound = &lower;
    options.iterate_upper_bound = &upper;
    const auto it = New(options);
    it->SeekToFirst();
    EXPECT_EQ(Rest(it.get()), "b=b c=c d=d");
    it->SeekToLast();
    EXPECT_EQ(At(*it), "d");
    it->Seek("a");
    EXPECT_EQ(At(*it), "b");
    it->Seek("e");
    EXPECT_EQ(At(*it), "end");
    it->SeekForPrev("z");
    EXPECT_EQ(At(*it), "d");
    it->SeekForPrev("a");
    EXPECT_EQ(At(*it), "end");
    it->Seek("b");
    it->Prev();
    EXPECT_EQ(At(*it), "end");
    Flush();
  }
}

TEST_F(DbIteratorStory, PrefixesBoundAScanAndFiltersDoNotHideKeys) {
  options_.prefix_extractor.reset(NewFixedPrefixTransform(2));
  options_.memtable_prefix_bloom_size_ratio = 0.1;
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  for (const char* key : {"aa1", "aa2", "bb1", "cc1", "cc2"}) Put(key, "");
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    ReadOptions same;
    same.prefix_same_as_start = true;
    auto it = New(same);
    it->Seek("aa1");
    EXPECT_EQ(Rest(it.get()), "aa1= aa2=");
    it->Seek("bb0");
    EXPECT_EQ(Rest(it.get()), "bb1=");
    it->Seek("bc");
    EXPECT_EQ(At(*it), "end") << "nothing has that prefix";

    ReadOptions total;
    total.total_order_seek = true;
    it = New(total);
    it->Seek("ab");
    EXPECT_EQ(Rest(it.get()), "bb1= cc1= cc2=");

    const Slice upper("cc2");
    ReadOptions bounded;
    bounded.prefix_same_as_start = true;
    bounded.iterate_upper_bound = &upper;
    it = New(bounded);
    it->Seek("cc0");
    EXPECT_EQ(Rest(it.get()), "cc1=");

    ReadOptions chosen;
    chosen.auto_prefix_mode = true;
    it = New(chosen);
    it->Seek("ab");
    EXPECT_EQ(Rest(it.get()), "bb1= cc1= cc2=");
    Flush();
  }
}

TEST_F(DbIteratorStory, AnIteratorKeepsItsMomentUntilRefreshed) {
  Open();
  Put("a", "1");
  const auto it = New();
  Put("b", "2");
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "a=1");
  ASSERT_TRUE(it->Refresh().ok());
  EXPECT_FALSE(it->Valid()) << "not positioned";
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "a=1 b=2");
  MakeTable({"c"});
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "a", "b").ok());
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "a=1 b=2");
  ASSERT_TRUE(it->Refresh().ok());
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "b=2 c=of c");
}

TEST_F(DbIteratorStory, RefreshTakesSnapshotsAndLeavesThem) {
  Open();
  Put("a", "1");
  const ManagedSnapshot first(db());
  Put("a", "2");
  Flush();
  const ManagedSnapshot second(db());
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "a", "b").ok());
  const auto it = New();
  struct Case {
    const char* name;
    const Snapshot* snapshot;
    const char* scan;
  };
  ManagedSnapshot* const held[] = {const_cast<ManagedSnapshot*>(&first),
                                   const_cast<ManagedSnapshot*>(&second)};
  for (const Case& c :
       {Case{"first", held[0]->snapshot(), "a=1"}, Case{"newest", nullptr, ""},
        Case{"second", held[1]->snapshot(), "a=2"}, Case{"first again", held[0]->snapshot(), "a=1"},
        Case{"newest again", nullptr, ""}}) {
    SCOPED_TRACE(c.name);
    ASSERT_TRUE(it->Refresh(c.snapshot).ok());
    it->SeekToFirst();
    EXPECT_EQ(Rest(it.get()), c.scan);
  }
  const Snapshot* const released = db()->GetSnapshot();
  db()->ReleaseSnapshot(released);
  EXPECT_TRUE(it->Refresh(released).IsInvalidArgument());
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "") << "as it was";
}

TEST_F(DbIteratorStory, SnapshotsSeeTheirMoment) {
  Open({"default", "a"});
  Put("k", "1");
  Put("k", "1", "a");
  const Snapshot* const old = db()->GetSnapshot();
  EXPECT_EQ(old->GetSequenceNumber(), db()->GetLatestSequenceNumber());
  EXPECT_GT(old->GetUnixTime(), 0);
  Put("k", "2");
  Delete("k", "a");
  for (const bool compacted : {false, true}) {
    SCOPED_TRACE(compacted);
    EXPECT_EQ(Get("k", "default", old), "1");
    EXPECT_EQ(Get("k", "a", old), "1");
    EXPECT_EQ(Get("k"), "2");
    EXPECT_EQ(Get("k", "a"), "NOT_FOUND");
    ReadOptions then;
    then.snapshot = old;
    EXPECT_EQ(Scan(then, "a"), "k=1");
    std::vector<std::string> values;
    for (const Status& s : db()->MultiGet(then, {"k"}, &values)) EXPECT_TRUE(s.ok());
    EXPECT_EQ(values[0], "1");
    Flush();
    Flush("a");
    for (const char* family : {"default", "a"}) {
      ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), Handle(family), nullptr, nullptr).ok());
    }
  }
  EXPECT_EQ(Number("rocksdb.num-snapshots"), 1u);
  EXPECT_EQ(Number("rocksdb.oldest-snapshot-sequence"), old->GetSequenceNumber());
  db()->ReleaseSnapshot(old);
  EXPECT_EQ(Number("rocksdb.num-snapshots"), 0u);
  db()->ReleaseSnapshot(nullptr);
}

TEST_F(DbIteratorStory, SnapshotsOfOthersAreRefused) {
  Open();
  Put("k", "v");
  const Snapshot* const released = db()->GetSnapshot();
  db()->ReleaseSnapshot(released);
  db()->ReleaseSnapshot(released);  // harmless: the pointer is not followed
  ReadOptions then;
  then.snapshot = released;
  std::string value;
  EXPECT_TRUE(db()->Get(then, "k", &value).IsInvalidArgument());
  EXPECT_TRUE(New(then)->status().IsInvalidArgument());
  std::vector<std::string> values;
  EXPECT_TRUE(db()->MultiGet(then, {"k"}, &values)[0].IsInvalidArgument());
}

TEST_F(DbIteratorStory, SnapshotsAreReadAndReleasedBesideTheMutexOfTheDatabase) {
  Open();
  Put("k", "v");
  ReadOptions then;
  then.snapshot = db()->GetSnapshot();
  std::promise<void> warm;
  std::promise<void> locked;
  auto done = std::async(std::launch::async, [&] {
    std::string value;
    // The first read of a thread gets the super-version.
    EXPECT_TRUE(db()->Get(then, "k", &value).ok());
    warm.set_value();
    locked.get_future().wait();
    EXPECT_TRUE(db()->Get(then, "k", &value).ok());
    db()->ReleaseSnapshot(then.snapshot);
  });
  warm.get_future().wait();
  DbLock lock(&static_cast<DbImpl*>(db())->engine()->state.mu);
  locked.set_value();
  EXPECT_EQ(done.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  lock.Unlock();
  done.wait();
}

TEST_F(DbIteratorStory, SeveralFamiliesAtOneMoment) {
  Open({"default", "a"});
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", "1").ok());
  ASSERT_TRUE(batch.Put(Handle("a"), "k", "1").ok());
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  std::vector<Iterator*> raw;
  ASSERT_TRUE(db()->NewIterators(ReadOptions(), {Handle("default"), Handle("a")}, &raw).ok());
  ASSERT_EQ(raw.size(), 2u);
  const std::unique_ptr<Iterator> owners[] = {std::unique_ptr<Iterator>(raw[0]),
                                              std::unique_ptr<Iterator>(raw[1])};
  Put("k", "2");
  Put("k", "2", "a");
  for (const auto& it : owners) {
    it->SeekToFirst();
    EXPECT_EQ(Rest(it.get()), "k=1");
  }
  EXPECT_TRUE(db()->NewIterators(ReadOptions(), {}, nullptr).IsInvalidArgument());
}

TEST_F(DbIteratorStory, ARefreshedIteratorFollowsOnlyWhatASnapshotHolds) {
  Open();
  Put("k", "v1");
  const Snapshot* const snapshot = db()->GetSnapshot();
  ReadOptions options;
  options.snapshot = snapshot;
  options.auto_refresh_iterator_with_snapshot = true;
  const auto it = New(options);
  Put("k", "v2");
  ASSERT_TRUE(it->Refresh().ok());
  Put("k", "v3");
  Flush();  // drops v2, which no snapshot holds
  it->Seek("k");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value().ToString(), "v2");
  ASSERT_TRUE(it->Refresh(snapshot).ok());
  it->Seek("k");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value().ToString(), "v1");
  db()->ReleaseSnapshot(snapshot);
}

class DropsB final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.DropsB"; }
  bool Filter(int, const Slice& key, const Slice&, std::string*, bool*) const override {
    return key == Slice("b") || key == Slice("c");
  }
};

TEST_F(DbIteratorStory, AFollowingIteratorLosesNoNeighbourOfAKeyThatIsGone) {
  static const DropsB filter;
  options_.compaction_filter = &filter;
  Open();
  for (const bool forward : {true, false}) {
    SCOPED_TRACE(forward);
    // With two versions of "b", every step over it is a full one, which follows new tables.
    for (const char* key : {"a", "b", "b", "c", "d"}) Put(key, "");
    const Snapshot* const snapshot = db()->GetSnapshot();
    ReadOptions options;
    options.snapshot = snapshot;
    options.auto_refresh_iterator_with_snapshot = true;
    const auto it = New(options);
    forward ? it->Seek("b") : it->SeekForPrev("c");
    EXPECT_EQ(At(*it), forward ? "b" : "c");
    Flush();
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    forward ? it->Next() : it->Prev();
    EXPECT_EQ(At(*it), forward ? "d" : "a");
    db()->ReleaseSnapshot(snapshot);
  }
}

TEST_F(DbIteratorStory, AFollowingIteratorKeepsThePrefixItBeganIn) {
  options_.prefix_extractor.reset(NewFixedPrefixTransform(3));
  Open();
  for (const char* key : {"abc1", "abc2", "abd1"}) Put(key, "");
  const Snapshot* const snapshot = db()->GetSnapshot();
  ReadOptions options;
  options.snapshot = snapshot;
  options.auto_refresh_iterator_with_snapshot = true;
  options.prefix_same_as_start = true;
  const auto without = New(options);
  without->Seek("a");  // is no prefix
  const auto within = New(options);
  within->Seek("abc");
  EXPECT_EQ(At(*without), "abc1");
  EXPECT_EQ(At(*within), "abc1");
  Flush();
  EXPECT_EQ(Rest(without.get()), "abc1= abc2= abd1=");
  EXPECT_EQ(Rest(within.get()), "abc1= abc2=");
  db()->ReleaseSnapshot(snapshot);
}

// The prefix is asked for anew of the key where the walk is.
TEST_F(DbIteratorStory, AFollowingIteratorGoesByAChangedPrefixExtractor) {
  options_.prefix_extractor.reset(NewCappedPrefixTransform(4));
  Open();
  for (const char* key : {"abc1", "abc2", "abd1", "b"}) Put(key, "");
  const Snapshot* const snapshot = db()->GetSnapshot();
  ReadOptions options;
  options.snapshot = snapshot;
  options.auto_refresh_iterator_with_snapshot = true;
  options.prefix_same_as_start = true;
  struct Change {
    const char* extractor;
    const char* rest;
  };
  for (const Change& change :
       {Change{"fixed:3", "abc1= abc2="}, Change{"fixed:2", "abc1= abc2= abd1="},
        Change{"nullptr", "abc1= abc2= abd1= b="}}) {
    SCOPED_TRACE(change.extractor);
    ASSERT_TRUE(db()->SetOptions({{"prefix_extractor", "capped:4"}}).ok());
    const auto it = New(options);
    it->Seek("abc1");
    ASSERT_EQ(At(*it), "abc1");
    ASSERT_TRUE(db()->SetOptions({{"prefix_extractor", change.extractor}}).ok());
    EXPECT_EQ(Rest(it.get()), change.rest);
  }
  db()->ReleaseSnapshot(snapshot);
}

TEST_F(DbIteratorStory, WhatIsPinnedStaysThoughALaterSeekHasNoPrefix) {
  options_.prefix_extractor.reset(NewFixedPrefixTransform(3));
  BlockBasedTableOptions table;
  table.use_delta_encoding = false;
  table.no_block_cache = true;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  constexpr size_t kBytes = 4000;
  for (char c : {'1', '2', '3'}) Put(std::string("abc") + c, std::string(kBytes, c));
  Flush();
  ReadOptions options;
  options.pin_data = true;
  options.prefix_same_as_start = true;
  const auto it = New(options);
  it->Seek("abc2");
  std::string pinned;
  ASSERT_TRUE(it->GetProperty("rocksdb.iterator.is-key-pinned", &pinned).ok());
  ASSERT_EQ(pinned, "1");
  const Slice key = it->key();
  const Slice value = it->value();
  it->Seek("a");
  it->SeekToLast();
  it->SeekToFirst();
  // These reuse memory that is free by now.
  std::vector<std::string> others;
  for (size_t i = 0; i < 1000; i++) others.emplace_back(kBytes + i, 'x');
  EXPECT_EQ(key.ToString(), "abc2");
  EXPECT_TRUE(value == Slice(std::string(kBytes, '2')));
  EXPECT_EQ(At(*it), "abc1");
}

TEST_F(DbIteratorStory, OptionsThatDoNotExistAreRefusedByName) {
  Open();
  struct Case {
    const char* name;
    void (*set)(ReadOptions*);
  };
  for (const Case& c : {
           Case{"kPersistedTier", [](ReadOptions* o) { o->read_tier = kPersistedTier; }},
       }) {
    ReadOptions options;
    c.set(&options);
    const Status s = New(options)->status();
    EXPECT_TRUE(s.IsNotSupported()) << c.name;
    EXPECT_THAT(s.ToString(), ::testing::HasSubstr(c.name));
  }
}

TEST_F(DbIteratorStory, LimitsAndFiltersOfOneRead) {
  options_.disable_auto_compactions = true;
  Open();
  for (int i = 0; i < 20; i++) {
    Put("k" + std::to_string(10 + i), "");
    Delete("k" + std::to_string(10 + i));
  }
  Put("z", "");
  ReadOptions impatient;
  impatient.max_skippable_internal_keys = 3;
  auto it = New(impatient);
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsIncomplete());
  Flush();
  ReadOptions filtered;
  filtered.table_filter = [](const TableProperties& p) { return p.num_deletions == 0; };
  EXPECT_EQ(Scan(filtered), "");
  filtered.table_filter = [](const TableProperties& p) { return p.num_entries > 0; };
  EXPECT_EQ(Scan(filtered), "z=");
  ReadOptions pinning;
  pinning.pin_data = true;
  it = New(pinning);
  it->SeekToFirst();
  std::string answer;
  ASSERT_TRUE(it->GetProperty("rocksdb.iterator.is-key-pinned", &answer).ok());
  EXPECT_TRUE(it->GetProperty("no.such.property", &answer).IsInvalidArgument());
}

}  // namespace
}  // namespace varve::testing
