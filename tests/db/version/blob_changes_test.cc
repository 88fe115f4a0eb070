// SPDX-License-Identifier: Apache-2.0

// Goal: a version has exactly the blob files that its tables may refer to, and its counts of
// garbage are RocksDB's. Method: edits are applied to versions, and what remains, leaves and is
// still to be counted is compared with what the rules of the MANIFEST say.

#include "db/version/blob_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FileRef Table(uint64_t number, uint64_t oldest, std::vector<BlobShare> shares = {}) {
  auto table = std::make_shared<FileMetaData>();
  table->number = number;
  table->oldest_blob_file_number = oldest;
  table->blob_shares = std::move(shares);
  return table;
}

VersionEdit Adds(std::vector<uint64_t> numbers) {
  VersionEdit edit;
  for (const uint64_t number : numbers) edit.new_blob_files.push_back({number, 10, 1000, {}});
  return edit;
}

VersionEdit Counts(uint64_t number, uint64_t count, uint64_t bytes) {
  VersionEdit edit;
  edit.blob_garbage.push_back({number, count, bytes});
  return edit;
}

class BlobChangesTest : public ::testing::Test {
 protected:
  // Applies the edits to the files of the last call, for a version with these tables.
  Status Apply(const std::vector<VersionEdit>& edits, std::vector<FileRef> tables) {
    BlobChanges changes(&files_, &context_);
    for (const VersionEdit& edit : edits) {
      Status s = changes.Apply(edit, queue_, nullptr);
      if (!s.ok()) return s;
    }
    BlobFiles next;
    Status s = changes.Build({std::move(tables)}, &next);
    if (!s.ok()) return s;
    counted_ = changes.Counted();
    files_ = next;
    removed_ = NumbersOf(changes.removed());
    rejected_ = NumbersOf(changes.rejected());
    uncounted_ = changes.uncounted();
    return s;
  }
  // Replays the edits of a MANIFEST, for a version with these tables.
  Status Replay(const std::vector<VersionEdit>& edits, const std::vector<FileRef>& tables) {
    BlobChanges changes(nullptr, &context_);
    for (const VersionEdit& edit : edits) {
      Status s = changes.Apply(edit, queue_, nullptr);
      if (!s.ok()) return s;
    }
    BlobFiles built;
    return changes.Build({tables}, &built);
  }
  static std::vector<uint64_t> NumbersOf(const std::vector<FileRef>& files) {
    std::vector<uint64_t> numbers;
    for (const FileRef& file : files) numbers.push_back(file->number);
    return numbers;
  }
  std::vector<uint64_t> Kept() const {
    std::vector<uint64_t> numbers;
    for (const BlobFileState& file : files_) numbers.push_back(file.number());
    return numbers;
  }

  const std::string context_ = "MANIFEST-000001: column family default";
  const std::shared_ptr<ObsoleteFileQueue> queue_ = std::make_shared<ObsoleteFileQueue>();
  BlobFiles files_;
  std::vector<uint64_t> removed_;
  std::vector<uint64_t> rejected_;
  std::vector<BlobGarbage> uncounted_;
  std::vector<BlobGarbage> counted_;
};

TEST_F(BlobChangesTest, AFileStaysWhileATableMayReferToIt) {
  ASSERT_TRUE(Apply({Adds({5, 6, 7})}, {Table(1, 5), Table(2, 7)}).ok());
  EXPECT_THAT(Kept(), ElementsAre(5, 6, 7)) << "table 1 may refer to file 6";
  EXPECT_EQ(files_[0].linked_tables, 1u);
  EXPECT_EQ(files_[1].linked_tables, 0u);
  EXPECT_EQ(files_[1].FileSize(), 1062u);
  ASSERT_TRUE(Apply({}, {Table(2, 7)}).ok());
  EXPECT_THAT(Kept(), ElementsAre(7));
  EXPECT_THAT(removed_, ElementsAre(5, 6));
  EXPECT_THAT(uncounted_, ElementsAre(BlobGarbage{5, 10, 1000}, BlobGarbage{6, 10, 1000}));
  ASSERT_TRUE(Apply({}, {Table(3, 0)}).ok());
  EXPECT_THAT(Kept(), IsEmpty());
}

TEST_F(BlobChangesTest, AFileOfGarbageAloneGoes) {
  ASSERT_TRUE(Apply({Adds({5, 6})}, {Table(1, 5)}).ok());
  ASSERT_TRUE(Apply({Counts(6, 4, 400)}, {Table(1, 5)}).ok());
  EXPECT_EQ(files_.Find(6)->garbage_count, 4u);
  EXPECT_EQ(files_.Find(6)->garbage_bytes, 400u);
  ASSERT_TRUE(Apply({Counts(6, 6, 600)}, {Table(1, 5)}).ok());
  EXPECT_THAT(Kept(), ElementsAre(5));
  EXPECT_THAT(removed_, ElementsAre(6));
  EXPECT_THAT(uncounted_, IsEmpty()) << "all is counted";
}

TEST_F(BlobChangesTest, KnownReferencesAreExact) {
  ASSERT_TRUE(Apply({Adds({5, 6, 7})}, {Table(1, 5, {{5, 1, 100}, {7, 2, 200}})}).ok());
  EXPECT_THAT(Kept(), ElementsAre(5, 7));
  EXPECT_THAT(rejected_, ElementsAre(6));
  ASSERT_TRUE(Apply({Adds({8})}, {Table(1, 5, {{5, 1, 100}, {7, 2, 200}}), Table(2, 7)}).ok());
  EXPECT_THAT(Kept(), ElementsAre(5, 7, 8)) << "of table 2 only the oldest file is known";
}

TEST_F(BlobChangesTest, OpenReadersMoveToTheNextVersion) {
  ASSERT_TRUE(Apply({Adds({5})}, {Table(1, 5)}).ok());
  const BlobFile* const before = files_[0].blobs.get();
  ASSERT_TRUE(Apply({Counts(5, 1, 100)}, {Table(1, 5)}).ok());
  EXPECT_EQ(files_[0].blobs.get(), before);
}

TEST_F(BlobChangesTest, AReplayReusesOpenFilesThatDidNotChange) {
  BlobChanges first(nullptr, &context_);
  ASSERT_TRUE(first.Apply(Adds({5, 6}), queue_, nullptr).ok());
  BlobFiles before;
  ASSERT_TRUE(first.Build({{Table(1, 5), Table(2, 6)}}, &before).ok());
  BlobFilesByNumber open;
  for (const BlobFileState& file : before) open.emplace(file.number(), file.blobs);
  VersionEdit again = Adds({5, 6});
  again.new_blob_files[1].bytes++;
  BlobChanges second(nullptr, &context_);
  second.ReuseFiles(&open);
  ASSERT_TRUE(second.Apply(again, queue_, nullptr).ok());
  BlobFiles after;
  ASSERT_TRUE(second.Build({{Table(1, 5), Table(2, 6)}}, &after).ok());
  EXPECT_EQ(after[0].blobs, before[0].blobs);
  EXPECT_NE(after[1].blobs, before[1].blobs) << "it is another file of the same number";
}

TEST_F(BlobChangesTest, OwnGarbageOfALostFileIsIgnored) {
  ASSERT_TRUE(Apply({Adds({5})}, {Table(1, 5)}).ok());
  VersionEdit edit = Counts(4, 1, 100);
  edit.blob_garbage.push_back({5, 2, 200});
  ASSERT_TRUE(Apply({edit}, {Table(1, 5)}).ok());
  EXPECT_THAT(counted_, ElementsAre(BlobGarbage{5, 2, 200})) << "all that the MANIFEST may say";
  EXPECT_TRUE(Replay({Adds({5}), {}, Counts(5, 2, 200)}, {Table(1, 5)}).ok());
}

TEST_F(BlobChangesTest, OwnGarbageLeavesWhatTablesReferTo) {
  ASSERT_TRUE(Apply({Adds({5, 6})}, {Table(1, 5)}).ok());
  ASSERT_TRUE(Apply({Counts(5, 6, 600)}, {Table(1, 5)}).ok());
  // A repair that brings back both sides of a lost edit leaves this state.
  ASSERT_TRUE(Apply({Counts(5, 6, 600)}, {Table(1, 5)}).ok());
  EXPECT_EQ(files_.Find(5)->garbage_count, 9u);
  EXPECT_EQ(files_.Find(5)->garbage_bytes, 968u);
  EXPECT_THAT(counted_, ElementsAre(BlobGarbage{5, 3, 368}));
  ASSERT_TRUE(Apply({Counts(5, UINT64_MAX, UINT64_MAX)}, {Table(1, 5)}).ok());
  EXPECT_THAT(counted_, IsEmpty());
  // Known references win.
  const std::vector<BlobShare> shares = {{6, 4, 400}};
  ASSERT_TRUE(Apply({Counts(6, 10, 1000)}, {Table(2, 6, shares)}).ok());
  EXPECT_THAT(Kept(), ElementsAre(6));
  EXPECT_THAT(counted_, ElementsAre(BlobGarbage{6, 6, 600}));
  ASSERT_TRUE(Apply({Counts(6, 4, 400)}, {}).ok());
  EXPECT_THAT(Kept(), IsEmpty());
  EXPECT_THAT(counted_, ElementsAre(BlobGarbage{6, 4, 400}));
  EXPECT_THAT(uncounted_, IsEmpty());
}

TEST_F(BlobChangesTest, AReplayThatGoesOnForgetsDeadFiles) {
  BlobChanges changes(nullptr, &context_);
  const auto apply = [&](const VersionEdit& edit) { return changes.Apply(edit, queue_, nullptr); };
  ASSERT_TRUE(apply(Adds({5, 6, 7})).ok());
  ASSERT_TRUE(apply(Counts(5, 10, 1000)).ok());
  BlobFiles built;
  ASSERT_TRUE(changes.Build({{Table(1, 7)}}, &built).ok());
  EXPECT_THAT(NumbersOf(changes.NewFiles()), ElementsAre(6, 7)) << "5 has no future";
  ASSERT_TRUE(apply(Counts(6, 10, 1000)).ok()) << "the record behind a removal";
  ASSERT_TRUE(changes.Build({{Table(1, 7)}}, &built).ok());
  EXPECT_THAT(NumbersOf(changes.NewFiles()), ElementsAre(7));
  EXPECT_EQ(built.size(), 1u);
}

TEST_F(BlobChangesTest, RefusesWhatCannotBe) {
  const std::pair<const char*, std::vector<VersionEdit>> cases[] = {
      {"blob file 5 is added but is there already", {Adds({5})}},
      {"blob file 6 is added but is there already", {Adds({6, 6})}},
      {"blob file 0 is added", {Adds({0})}},
      {"blob file 4 has garbage but is not there", {Counts(4, 1, 1)}},
      {"blob file 5 has more garbage than values", {Counts(5, 11, 1)}},
      {"blob file 5 has more garbage than values", {Counts(5, 1, 1001)}},
      {"blob file 5 has more garbage than values", {Counts(5, 9, 9), Counts(5, 2, 2)}},
      {"blob file 5 has more garbage than values", {Counts(5, 9, 9), Counts(5, UINT64_MAX, 2)}},
      {"blob file 5 is nothing but garbage", {Counts(5, 10, 1000)}},
  };
  for (const auto& [message, edits] : cases) {
    std::vector<VersionEdit> records = {Adds({5})};
    records.insert(records.end(), edits.begin(), edits.end());
    const Status s = Replay(records, {Table(1, 5)});
    EXPECT_TRUE(s.IsCorruption()) << message;
    EXPECT_THAT(s.ToString(), HasSubstr(message));
    EXPECT_THAT(s.ToString(), HasSubstr(context_));
  }
}

}  // namespace
}  // namespace varve
