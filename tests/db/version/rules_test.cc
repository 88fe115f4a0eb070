// SPDX-License-Identifier: Apache-2.0

// Goal: a build with assertions stops a caller that breaks a rule of versions or of the set of
// them.

#include "db/version/file_weights.h"
#include "db/version/manifest_replay.h"
#include "db/version/obsolete_file_queue.h"
#include "db/version/version_builder.h"
#include "tests/db/broken_rules.h"
#include "tests/db/version/set_fixture.h"

namespace varve::rules_of_version {
namespace {

struct Set {
  Set() : set(VersionSetOptions(), &mu) { NobodyElseIsThere(); }
  DbMutex mu;
  VersionSet set;
};

TEST(VersionRules, BreakingOneEndsTheProcess) {
  ExpectDeaths({
      {"i < files_.size()", [] { (void)DrawTree("L1: 1[a-b]10")->level(1)[1]; }},
      {"l >= 0 && l < num_levels()", [] { (void)DrawTree("")->level(7); }},
      {"level_ > 0 || files_.empty()",
       [] { (void)DrawTree("L0: 1[a-b]10")->level(0).Find("a12345678"); }},
      {"file != nullptr", [] { LevelFiles(&BytewiseOrder(), 1, std::vector<FileRef>{nullptr}); }},
      {"icmp != nullptr", [] { Version(nullptr, 1, {}); }},
      {"queue != nullptr && file != nullptr",
       [] { ObsoleteFileQueue::Track(nullptr, std::make_unique<FileMetaData>()); }},
      {"file->obsolete.load(std::memory_order_relaxed)",
       [] { ObsoleteFileQueue().Requeue(std::make_unique<FileMetaData>()); }},
      {"base_ == nullptr && deleted_from_base_.empty()",
       [] {
         const VersionRef base = DrawTree("");
         const std::string context = "test";
         uint64_t epoch = 0;
         VersionBuilder(&BytewiseOrder(), 7, base.get(), std::make_shared<ObsoleteFileQueue>(),
                        &context)
             .FinishRecovery(0, &epoch);
       }},
      {"level >= 0 && static_cast<size_t>(level) < beneath_.size()",
       [] { (void)FileWeights(*DrawTree("")).EntryBytesBeneath(-1); }},
      {"seq <= kMaxSequenceNumber", [] { Set().set.set_last_sequence(kMaxSequenceNumber + 1); }},
      {"first <= end",
       [] {
         NobodyElseIsThere();
         Set().set.NoteUnreadLogs(5, 3);
       }},
      {"!low.empty() && low.size() == order->timestamp_size()",
       [] {
         NobodyElseIsThere();
         FamilyVersions family;
         family.icmp = std::make_unique<InternalKeyComparator>(BytewiseComparatorWithU64Ts());
         family.RaiseFullHistoryTsLow("short");
       }},
      {"families_.empty()",
       [] {
         MemFileSystem fs;
         const std::vector<FamilyToOpen> none;
         ManifestReplay replay("/MANIFEST-000001", &none, std::make_shared<ObsoleteFileQueue>());
         (void)replay.Read(&fs, FileOptions());
         (void)replay.Read(&fs, FileOptions());
       }},
  });
}

}  // namespace
}  // namespace varve::rules_of_version
