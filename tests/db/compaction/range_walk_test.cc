// SPDX-License-Identifier: Apache-2.0

// Goal: a CompactRange call finds its way though others move and rewrite tables beside it, and
// ends. Method: trees as lists of numbered tables, each of which holds ages: which of them were
// there at the beginning, and with what they have been rewritten since. The call's steps and
// others' are drawn from a seed, run on the lists, and the ages are looked at when the call says
// that it is done.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "db/compaction/manual_picker.h"
#include "db/compaction/plan_builder.h"
#include "tests/harness/random.h"

namespace varve {
namespace {

constexpr int kWalkLevels = 6;

// Describes a table's contents for the test.
struct Contents {
  bool old = false;       // some of what was there when the call began
  bool unmarked = false;  // some of that was not rewritten with the call's mark since
};

class Tree {
 public:
  explicit Tree(bool dynamic) {
    options_.num_levels = kWalkLevels;
    options_.level_compaction_dynamic_level_bytes = dynamic;
    options_.compression = kNoCompression;
    options_.max_bytes_for_level_base = 40;
    options_.target_file_size_base = 10;
    levels_.resize(kWalkLevels);
  }

  // Adds a table; below L0 only where there is room.
  bool Add(int level, char first, char last, Contents contents) {
    const auto at = static_cast<size_t>(level);
    if (level > 0) {
      for (const FileRef& file : levels_[at]) {
        if (First(*file) <= last && Last(*file) >= first) return false;
      }
    }
    levels_[at].push_back(Make(first, last, contents));
    if (level > 0) {
      std::sort(levels_[at].begin(), levels_[at].end(),
                [](const FileRef& a, const FileRef& b) { return First(*a) < First(*b); });
    } else {
      std::rotate(levels_[0].begin(), levels_[0].end() - 1, levels_[0].end());
    }
    return true;
  }

  VersionRef version() { return std::make_shared<Version>(&icmp_, 1, levels_); }
  const ColumnFamilyOptions& options() const { return options_; }
  uint64_t next_number() const { return next_number_; }
  std::map<uint64_t, Contents>& contents() { return contents_; }
  const std::vector<std::vector<FileRef>>& levels() const { return levels_; }

  // Returns one output for each input, or the same tables elsewhere. `marked` applies to rewritten
  // ones.
  Remainder::Work Run(const CompactionPlan& plan, bool marked) {
    Remainder::Work work;
    work.bottommost = plan.bottommost;
    work.in_place = plan.start_level == plan.output_level && plan.output_level > 0;
    char first = 'z';
    char last = 'a';
    Contents sum;
    for (const CompactionInputLevel& level : plan.inputs) {
      for (const FileRef& file : level.files) {
        work.inputs.push_back(file->number);
        sum.old |= contents_[file->number].old;
        sum.unmarked |= contents_[file->number].unmarked && !marked;
        first = std::min(first, First(*file));
        last = std::max(last, Last(*file));
        std::erase(levels_[static_cast<size_t>(level.level)], file);
      }
    }
    if (plan.trivial_move) {
      for (const FileRef& file : plan.inputs.front().files) {
        Contents same = contents_[file->number];
        EXPECT_TRUE(Add(plan.output_level, First(*file), Last(*file), same));
        auto& files = levels_[static_cast<size_t>(plan.output_level)];
        const auto moved = std::max_element(
            files.begin(), files.end(),
            [](const FileRef& a, const FileRef& b) { return a->number < b->number; });
        (*moved)->number = file->number;
      }
      return work;
    }
    EXPECT_TRUE(Add(plan.output_level, first, last, sum)) << plan.DebugString();
    work.outputs.push_back(next_number_ - 1);
    return work;
  }

  std::string Text() const {
    std::string text;
    for (size_t level = 0; level < levels_.size(); level++) {
      if (levels_[level].empty()) continue;
      text += "L" + std::to_string(level) + ":";
      for (const FileRef& file : levels_[level]) {
        text += " " + std::to_string(file->number) + "[" + First(*file) + "-" + Last(*file) + "]";
      }
      text += "; ";
    }
    return text;
  }

 private:
  static char First(const FileMetaData& file) { return ExtractUserKey(file.smallest.Encode())[0]; }
  static char Last(const FileMetaData& file) { return ExtractUserKey(file.largest.Encode())[0]; }

  FileRef Make(char first, char last, Contents contents) {
    auto file = std::make_shared<FileMetaData>();
    file->number = next_number_++;
    file->epoch_number = file->number;
    file->smallest.Set(std::string(1, first), 100, kTypeValue);
    file->largest.Set(std::string(1, last), 90, kTypeValue);
    file->size = 10;
    contents_[file->number] = contents;
    return file;
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  ColumnFamilyOptions options_;
  std::vector<std::vector<FileRef>> levels_;
  std::map<uint64_t, Contents> contents_;
  uint64_t next_number_ = 1;
};

// Runs a call on a drawn tree, with others' steps before each of its own.
void WalkOnce(uint64_t seed) {
  testing::Random random(seed);
  Tree tree(random.OneIn(2));
  const auto letter = [&random] { return static_cast<char>('a' + random.Below(12)); };
  const auto add = [&](int level, Contents contents) {
    const char a = letter();
    const char b = letter();
    tree.Add(level, std::min(a, b), std::min<char>(std::max(a, b), std::min(a, b) + 3), contents);
  };
  for (int i = 0; i < 12; i++) add(static_cast<int>(random.Below(kWalkLevels)), {true, true});
  const auto goal = static_cast<Remainder::Goal>(random.Below(3));
  const std::string mark = random.OneIn(2) ? "mark" : "";
  constexpr int kFirstJob = 10;
  Remainder remainder(goal, mark, tree.next_number(), kFirstJob);
  RangeCall call;
  const std::string text_begin(1, letter());
  const std::string text_end(1, static_cast<char>(text_begin[0] + 4));
  const Slice begin = text_begin;
  const Slice end = text_end;
  if (random.OneIn(2)) {
    call.begin = &begin;
    call.end = &end;
  }
  // A plan of before the call, which is under way when it begins.
  std::unique_ptr<CompactionPlan> early;
  const auto pick = [&](const std::vector<const CompactionPlan*>& running) {
    const VersionRef version = tree.version();
    if (random.OneIn(2)) {
      ManualCompactionRequest request;
      request.start_level = static_cast<int>(random.Below(kWalkLevels - 1));
      const LevelShape shape = ComputeLevelShape(*version, tree.options());
      request.output_level =
          request.start_level == 0 ? std::max(1, shape.base_level) : request.start_level + 1;
      const std::string from(1, letter());
      const Slice only = from;
      request.begin = request.end = &only;
      request.allow_trivial_move = random.OneIn(2);
      bool conflict = false;
      return PickManualCompaction(version, shape, tree.options(), request, running, &conflict);
    }
    return PickCompaction(version, ComputeLevelShape(*version, tree.options()), tree.options(),
                          running);
  };
  const auto set_busy = [&](const CompactionPlan& plan, bool busy) {
    for (const CompactionInputLevel& level : plan.inputs) {
      for (const FileRef& file : level.files) file->notes.being_compacted = busy;
    }
  };
  if (random.OneIn(2)) early = pick({});
  if (early != nullptr) set_busy(*early, true);
  const auto end_early = [&] {
    if (early == nullptr) return;
    set_busy(*early, false);
    Remainder::Work work = tree.Run(*early, /*marked=*/false);
    work.job_id = kFirstJob - 1;
    if (!early->trivial_move) remainder.Note(work);
    early.reset();
  };
  bool done = false;
  for (int round = 0; round < 60 && !done; round++) {
    if (random.OneIn(3)) add(0, {});
    std::vector<const CompactionPlan*> running;
    if (early != nullptr) running.push_back(early.get());
    if (random.OneIn(2) && round < 20) {
      if (const auto plan = pick(running)) {
        // Filters are applied by every compaction that begins after the call; its
        // full_history_ts_low only by its own steps.
        Remainder::Work work = tree.Run(*plan, /*marked=*/mark.empty());
        work.job_id = kFirstJob + round;
        if (!plan->trivial_move) remainder.Note(work);
      }
    }
    const VersionRef version = tree.version();
    bool conflict = false;
    const auto plan = PickRangeStep(version, ComputeLevelShape(*version, tree.options()),
                                    tree.options(), call, remainder, running, &conflict);
    if (plan != nullptr) {
      Remainder::Work work = tree.Run(*plan, /*marked=*/true);
      work.job_id = kFirstJob + round;
      work.trim_ts = mark;
      if (!plan->trivial_move) remainder.Note(work);
    }
    done = plan == nullptr && !conflict;
    if (conflict || random.OneIn(6)) end_early();
  }
  ASSERT_TRUE(done) << tree.Text();
  int last = kWalkLevels - 1;
  const VersionRef version = tree.version();
  while (last > 0 && version->level(last).Overlapping(call.begin, call.end).empty()) last--;
  for (int level = 0; level <= last; level++) {
    for (const FileMetaData* file : version->level(level).Overlapping(call.begin, call.end)) {
      const Contents& contents = tree.contents()[file->number];
      EXPECT_TRUE(!contents.old || level == last) << file->number << " in " << tree.Text();
      EXPECT_TRUE(!contents.unmarked || goal == Remainder::Goal::kSink)
          << file->number << " in " << tree.Text();
    }
  }
}

TEST(RangeWalkTest, AllThatWasThereGoesDownAndIsRewrittenWhateverOthersDo) {
  for (uint64_t seed = 1; seed <= 4000 && !::testing::Test::HasFailure(); seed++) {
    SCOPED_TRACE(seed);
    WalkOnce(seed);
  }
}

TEST(RemainderTest, WhatACompactionOfBeforeWritesIsStillToBeDone) {
  Remainder remainder(Remainder::Goal::kRewrite, "7", /*end=*/10, /*first_job=*/5);
  Remainder::Work work;
  work.inputs = {3, 12};
  work.outputs = {13};
  work.job_id = 4;
  work.trim_ts = "7";
  remainder.Note(work);
  EXPECT_TRUE(remainder.IsUnwritten(13)) << "it began before the call";
  work = {6, false, false, "", {13}, {14}};
  remainder.Note(work);
  EXPECT_TRUE(remainder.IsUnwritten(14)) << "without the mark";
  work = {7, false, false, "7", {14, 15}, {16, 17}};
  remainder.Note(work);
  EXPECT_FALSE(remainder.IsUnwritten(16));
  EXPECT_TRUE(remainder.IsOld(17));
  work = {8, false, false, "", {18}, {19}};
  remainder.Note(work);
  EXPECT_FALSE(remainder.IsOld(19)) << "written after the call began";
}

}  // namespace
}  // namespace varve
