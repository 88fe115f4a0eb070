// SPDX-License-Identifier: Apache-2.0

// Goal: accepted data can be read again: writers enforce every limit, and readers have no lower
// ones. Method: for each limit a database at it, which reopens after a kill, and one step above it,
// which is refused and changes nothing. Sizes of entries, batches and values are in sizes_test.cc,
// and beyond 4 GiB in data_test.cc; of blocks, and entries of tables, in
// tests/table/table_builder_test.cc; of records of a MANIFEST and the number of families, in
// tests/db/version/version_set_test.cc; of OPTIONS files, in tests/util/options.

#include <gtest/gtest.h>

#include <functional>

#include "varve/comparator.h"

#include "db/version/manifest_replay.h"
#include "db/version/version_set.h"
#include "tests/harness/database.h"
#include "util/env/file_names.h"
#include "util/key/entry_limits.h"

namespace varve::testing {
namespace {

// Keys in the order of their bytes before the timestamp.
class TimestampsOf final : public Comparator {
 public:
  explicit TimestampsOf(size_t bytes)
      : Comparator(bytes), largest_(bytes, '\xff'), smallest_(bytes, '\0') {}
  const char* Name() const override { return "test.TimestampsOf"; }
  int Compare(const Slice& a, const Slice& b) const override {
    const int order = CompareWithoutTimestamp(a, true, b, true);
    if (order != 0) return order;
    return -CompareTimestamp(TimestampOf(a), TimestampOf(b));
  }
  using Comparator::CompareWithoutTimestamp;
  int CompareWithoutTimestamp(const Slice& a, bool a_has, const Slice& b,
                              bool b_has) const override {
    return Bare(a, a_has).compare(Bare(b, b_has));
  }
  int CompareTimestamp(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  Slice GetMaxTimestamp() const override { return largest_; }
  Slice GetMinTimestamp() const override { return smallest_; }

 private:
  Slice TimestampOf(const Slice& key) const {
    return {key.data() + key.size() - timestamp_size(), timestamp_size()};
  }
  Slice Bare(const Slice& key, bool has) const {
    return {key.data(), key.size() - (has ? timestamp_size() : 0)};
  }

  const std::string largest_;
  const std::string smallest_;
};

class LimitsTest : public Database {
 protected:
  // Makes a family of that size in an open database.
  Status Make(const std::string& name, const ColumnFamilyOptions& options) {
    ColumnFamilyHandle* made = nullptr;
    const Status s = db()->CreateColumnFamily(options, name, &made);
    if (!s.ok()) return s;
    EXPECT_TRUE(db()->DestroyColumnFamilyHandle(made).ok());
    return s;
  }
  Status OpenWith(const std::string& name, const ColumnFamilyOptions& options) {
    return TryOpenWith({{"default", options_}, {name, options}});
  }
};

// An opening that counts on from there would write numbers that no MANIFEST may have.
TEST_F(LimitsTest, FilesWithLargeNumbersUseNoneUp) {
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  const std::string directory = kName;
  for (const uint64_t number :
       {kMaxFileNumber, kMaxFileNumber + 1, kMaxFoundFileNumber + 1, UINT64_MAX}) {
    for (const std::string& path :
         {TableFileName(directory, number), LogFileName(directory, number),
          OptionsFileName(directory, number)}) {
      WriteFile(path, "");
    }
  }
  for (int opening = 0; opening < 3; opening++) {
    Open();
    EXPECT_EQ(Get("a"), "of a");
    MakeTable({"b"});
    Put("logged", std::to_string(opening));
    Kill();
  }
  Open();
  EXPECT_EQ(Scan(), "a=of a b=of b logged=2");
}

struct FamilyLimit {
  const char* name;
  size_t limit;
  // A family's name and options of that size.
  std::function<ColumnFamilyDescriptor(size_t)> make;
};

TEST_F(LimitsTest, WhatIsLetInOpensAgainAndOneAboveIsRefused) {
  // They outlive the killed database, which is closed after the test.
  static std::vector<std::unique_ptr<TimestampsOf>> orders;
  const FamilyLimit kLimits[] = {
      {"bytes of a family's name", kFamilyNameBytesMax,
       [](size_t n) { return ColumnFamilyDescriptor(std::string(n, 'n'), {}); }},
      {"bytes of a timestamp", kTimestampBytesMax,
       [&](size_t n) {
         ColumnFamilyDescriptor family("f", {});
         family.options.comparator = orders.emplace_back(std::make_unique<TimestampsOf>(n)).get();
         return family;
       }},
      {"levels", 64,
       [](size_t n) {
         ColumnFamilyDescriptor family("f", {});
         family.options.num_levels = static_cast<int>(n);
         return family;
       }},
  };
  for (const FamilyLimit& limit : kLimits) {
    SCOPED_TRACE(limit.name);
    Open();
    const ColumnFamilyDescriptor above = limit.make(limit.limit + 1);
    const Status refused = Make(above.name, above.options);
    EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
    Put("k", "writes go on");
    const ColumnFamilyDescriptor at = limit.make(limit.limit);
    const Status let_in = Make(at.name, at.options);
    ASSERT_TRUE(let_in.ok()) << let_in.ToString();
    Kill();
    ASSERT_TRUE(OpenWith(at.name, at.options).ok());
    const size_t timestamp_size =
        at.options.comparator == nullptr ? 0 : at.options.comparator->timestamp_size();
    const std::string timestamp(timestamp_size, 't');
    const auto put = [&](const std::string& key) {
      return timestamp.empty() ? db()->Put(WriteOptions(), Handle(at.name), key, "v")
                               : db()->Put(WriteOptions(), Handle(at.name), key, timestamp, "v");
    };
    ASSERT_TRUE(put("flushed").ok());
    ASSERT_TRUE(db()->Flush(FlushOptions(), Handle(at.name)).ok());
    if (timestamp.empty()) {
      CompactRangeOptions to_the_end;
      to_the_end.change_level = true;
      to_the_end.target_level = db()->NumberLevels(Handle(at.name)) - 1;
      ASSERT_TRUE(db()->CompactRange(to_the_end, Handle(at.name), nullptr, nullptr).ok());
    }
    ASSERT_TRUE(put("logged").ok());
    Kill();
    const Status s = OpenWith(at.name, at.options);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const Slice as_of(timestamp);
    ReadOptions options;
    if (!timestamp.empty()) options.timestamp = &as_of;
    for (const char* key : {"flushed", "logged"}) {
      std::string value;
      EXPECT_TRUE(db()->Get(options, Handle(at.name), key, &value).ok()) << key;
    }
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

}  // namespace
}  // namespace varve::testing
