// SPDX-License-Identifier: Apache-2.0

// One thread of operations. Each turn makes one operation of a key, then perhaps some of
// maintenance and some that move data, all under the shared in_use. Clearing a family and verifying
// everything need it exclusively, so that they come after the shared lock has been released: it
// cannot be upgraded.

#include "tools/db_stress/worker.h"

#include "tools/db_stress/flags.h"

namespace varve::stress {

Worker::Worker(Database* database, uint32_t id, uint64_t seed)
    : database_(database), id_(id), dice_(seed * 1000003 + id) {}

KeyId Worker::RandomKey() {
  const uint64_t keys = expected().keys();
  // Half of the operations use a sixteenth of the keys. Hot keys are where merges pile up and
  // concurrent changes of a key meet.
  const uint64_t number = dice_.OneIn(2) ? dice_.Below(keys) : dice_.Below(keys / 16 + 1) * 16;
  return {RandomFamily(), number % keys};
}

void Worker::Run(uint64_t operations) {
  for (uint64_t i = 0; i < operations; i++) {
    {
      const std::shared_lock<std::shared_mutex> use(database_->in_use);
      Step();
      Maintain();
      Move();
      ReleaseDue();
    }
    if (dice_.OneIn(static_cast<uint64_t>(FLAGS_clear_column_family_one_in)) &&
        expected().families() > 1) {
      const std::unique_lock<std::shared_mutex> alone(database_->in_use);
      database_->ClearFamily(1 + static_cast<uint32_t>(dice_.Below(expected().families() - 1)));
    }
    if (dice_.OneIn(static_cast<uint64_t>(FLAGS_verify_db_one_in))) {
      const std::unique_lock<std::shared_mutex> alone(database_->in_use);
      database_->VerifyAll();
    }
    operation_++;
    expected().counts().operations++;
  }
}

// Percentages are subtracted in turn until the number falls below zero. CheckFlags has made sure
// that they add up to 100, which leaves the rest to MultiGet.
void Worker::Step() {
  auto dice = static_cast<int>(dice_.Below(100));
  if ((dice -= FLAGS_readpercent) < 0) return dice_.OneIn(5) ? GetOperands() : Get();
  if ((dice -= FLAGS_prefixpercent) < 0) return ScanPrefix();
  if ((dice -= FLAGS_writepercent) < 0) return Put();
  if ((dice -= FLAGS_mergepercent) < 0) return Merge();
  if ((dice -= FLAGS_delpercent) < 0) return Delete();
  if ((dice -= FLAGS_delrangepercent) < 0) return DeleteRange();
  if ((dice -= FLAGS_iterpercent) < 0) return Scan();
  MultiGet();
}

void Worker::Maintain() {
  const auto one_in = [this](int n) { return dice_.OneIn(static_cast<uint64_t>(n)); };
  if (one_in(FLAGS_flush_one_in)) database_->Flush(RandomFamily());
  if (one_in(FLAGS_sync_wal_one_in)) database_->SyncLog(dice_.OneIn(2));
  if (one_in(FLAGS_compact_range_one_in)) {
    const std::string begin = KeyBytes(RandomKey().number);
    const Slice begin_slice(begin);
    const Status s = db()->CompactRange(CompactRangeOptions(), handle(RandomFamily()),
                                        dice_.OneIn(2) ? &begin_slice : nullptr, nullptr);
    if (!s.ok()) database_->Wrong("CompactRange: " + s.ToString());
  }
  if (FLAGS_random_options && one_in(FLAGS_set_style_one_in)) {
    // Changes the style of a running family: a compaction that was picked for one style may end
    // under another.
    const char* const style =
        dice_.OneIn(2) ? "kCompactionStyleUniversal" : "kCompactionStyleLevel";
    const Status s = db()->SetOptions(
        handle(RandomFamily()),
        {{"compaction_style", style},
         {"enable_blob_garbage_collection", dice_.OneIn(2) ? "true" : "false"},
         {"punch_holes_in_blob_files", dice_.OneIn(2) ? "true" : "false"},
         {"blob_garbage_collection_force_threshold", dice_.OneIn(2) ? "0.2" : "0.8"}});
    if (!s.ok()) database_->Wrong("SetOptions: " + s.ToString());
  }
  if (one_in(FLAGS_verify_checksum_one_in)) {
    const Status s = db()->VerifyChecksum();
    if (!s.ok()) database_->Wrong("VerifyChecksum: " + s.ToString());
  }
  if (one_in(FLAGS_temporary_family_one_in)) TemporaryFamily();
  if (one_in(FLAGS_acquire_snapshot_one_in)) TakeSnapshot();
}

}  // namespace varve::stress
