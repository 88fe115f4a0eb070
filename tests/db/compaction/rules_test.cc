// SPDX-License-Identifier: Apache-2.0

// Goal: a build with assertions stops a caller that breaks a rule of plans or of surviving entries.

#include "db/compaction/candidate_order.h"
#include "db/compaction/compaction_iterator.h"
#include "db/compaction/compaction_job.h"
#include "db/compaction/compaction_picker.h"
#include "db/compaction/deeper_levels.h"
#include "db/compaction/drop_rules.h"
#include "db/compaction/input_span.h"
#include "db/compaction/manual_picker.h"
#include "db/compaction/merge_collector.h"
#include "db/compaction/plan_builder.h"
#include "tests/db/broken_rules.h"
#include "tests/db/compaction/list_iterator.h"
#include "tests/db/version/drawn_tree.h"

namespace varve::rules_of_compaction {
namespace {

struct Tree {
  VersionRef version = DrawTree("L0: 3[a-c]10 L1: 1[a-c]10 2[d-f]10");
  ColumnFamilyOptions options;
  LevelShape shape = ComputeLevelShape(*version, options);
  std::vector<const CompactionPlan*> running;
  PlanBuilder builder{version, shape, options, running};
};

struct Pass {
  explicit Pass(std::vector<SequenceNumber> snapshots = {}) {
    CompactionIteratorOptions options;
    options.icmp = &BytewiseOrder();
    options.snapshots = std::move(snapshots);
    iterator = std::make_unique<CompactionIterator>(&input, nullptr, options);
  }
  test::ListIterator input{{{"a", 9, kTypeValue, "1"}}};
  std::unique_ptr<CompactionIterator> iterator;
};

TEST(CompactionRules, BreakingOneEndsTheProcess) {
  ExpectDeaths({
      {"picker != nullptr",
       [] {
         Tree tree;
         tree.options.compaction_style = static_cast<CompactionStyle>(9);
         (void)NeedsCompaction(tree.version, tree.shape, tree.options, tree.running);
       }},
      {"shape.scores.size() ==",
       [] {
         Tree tree;
         const CompactionPicker* picker = FindCompactionPicker(kCompactionStyleLevel);
         (void)picker->Pick(tree.version, LevelShape(), tree.options, {});
       }},
      {"level >= 1 && level + 1 < version.num_levels()",
       [] { (void)OrderCandidates(*Tree().version, 0, kMinOverlappingRatio); }},
      {"span->first <= span->last && span->last <= files.size()",
       [] {
         FileSpan span{1, 3};
         GrowToCleanCut(Tree().version->level(1), BytewiseOrder(), &span);
       }},
      {"span.first <= span.last && span.last <= files.size()",
       [] {
         (void)FilesOf(Tree().version->level(1), {2, 1});
       }},
      {"chosen->size() == files.size()",
       [] {
         std::vector<bool> chosen(2);
         GrowL0Cluster(Tree().version->level(0), BytewiseOrder(), &chosen);
       }},
      {"!plan->inputs.empty() && !plan->inputs.front().files.empty()",
       [] { (void)Tree().builder.Build({}); }},
      {"plan->output_level >= 0 && plan->output_level < version_->num_levels()",
       [] {
         Tree tree;
         PlanInputs inputs;
         inputs.levels.push_back({1, tree.version->level(1).files()});
         inputs.output_level = 7;
         (void)tree.builder.Build(std::move(inputs));
       }},
      {"level > 0 && output_level >= level",
       [] {
         (void)Tree().builder.FromLevel(2, {0, 0}, 1, CompactionReason::kUnknown);
       }},
      {"chosen.size() == files.size() && output_level > 0",
       [] { (void)Tree().builder.FromL0({true}, 0, CompactionReason::kUnknown); }},
      {"request.output_level >= request.start_level",
       [] {
         Tree tree;
         bool conflict = false;
         ManualCompactionRequest request;
         request.start_level = 2;
         (void)PickManualCompaction(tree.version, tree.shape, tree.options, request, {}, &conflict);
       }},
      {"plan->inputs.empty()",
       [] {
         CompactionPlan plan;
         plan.inputs.emplace_back();
         PickFilesInRanges(Tree().version, nullptr, 0, true, &plan);
       }},
      {"version == nullptr || first_level >= 1 || version->level(0).empty()",
       [] { DeeperLevels(Tree().version.get(), 0); }},
      {"!plan_.trivial_move && !plan_.deletion_only && !plan_.inputs.empty()",
       [] {
         CompactionResult result;
         (void)RunCompaction(CompactionPlan(), CompactionContext(), &result);
       }},
      {"std::ranges::is_sorted(options_.snapshots)",
       [] {
         Pass({5, 3});
       }},
      {"!has_key_ && !valid_",
       [] {
         Pass pass;
         pass.iterator->Start(nullptr);
         pass.iterator->Start(nullptr);
       }},
      {"valid_", [] { (void)Pass().iterator->key(); }},
      {"valid_", [] { Pass().iterator->Next(); }},
      {"stripe <= options_.snapshots.size() && type != kTypeSingleDeletion",
       [] { (void)DropRules({}).Judge(0, kTypeSingleDeletion, [] { return true; }); }},
      {"stripe == StripeOf(sequence)",
       [] { (void)DropRules({}).JudgeSingleDelete(1, 1, {}, [] { return true; }); }},
      {"stripe <= options_.snapshots.size()", [] { DropRules({}).BecameValue(1); }},
      {"!entries_.empty() && taken_ == 0 && type_ == kTypeMerge",
       [] {
         const MergeCaller caller;
         (void)MergeCollector(&caller).Merge("key", MergeCollector::Base::kNone, Slice());
       }},
  });
}

}  // namespace
}  // namespace varve::rules_of_compaction
