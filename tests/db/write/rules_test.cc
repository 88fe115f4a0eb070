// SPDX-License-Identifier: Apache-2.0

// Goal: a build with assertions stops a caller that breaks a rule of the ring, of the commit path
// or of records.

#include "db/write/batch_inserter.h"
#include "db/write/commit_ring.h"
#include "db/write/record_encoder.h"
#include "db/write/ring_commit_path.h"
#include "db/write/tiny_lock.h"
#include "db/write/write_stall.h"
#include "tests/db/broken_rules.h"
#include "tests/db/write/watching_host.h"

namespace varve::rules_of_write {
namespace {

struct Ring : CommitRing::Listener {
  explicit Ring(uint64_t slots = 2) : ring(this, slots) {}
  void Publish(SequenceNumber) override {}
  CommitRing ring;
};

TEST(WriteRules, BreakingOneEndsTheProcess) {
  ExpectDeaths({
      {"slots >= 2 && (slots & (slots - 1)) == 0", [] { Ring ring(3); }},
      {"HasRoom()",
       [] {
         Ring r;
         for (SequenceNumber i = 1; i <= 3; i++) r.ring.Take(i);
       }},
      {"tail_ == 0 || SlotOf(tail_ - 1).last <= last",
       [] {
         Ring r;
         r.ring.Take(2);
         r.ring.Take(1);
       }},
      {"SlotOf(ticket).word.load(std::memory_order_relaxed) == Open(ticket)",
       [] {
         Ring r;
         const CommitRing::Ticket ticket = r.ring.Take(1);
         r.ring.Complete(ticket);
         r.ring.Complete(ticket);
       }},
      {"ticket >= slot_count_", [] { Ring().ring.AwaitRoom(1); }},
      {"seen != Open(ticket)",
       [] {
         Ring r;
         r.ring.WaitRetired(r.ring.Take(1));
       }},
      {"before != kFree",
       []() VARVE_NO_THREAD_SAFETY_ANALYSIS {  // it breaks just that rule
         TinyLock lock;
         lock.Unlock();
       }},
      {"exclusive_",
       [] {
         WatchingHost host(0);
         NewOrderedCommitPath({}, &host, 0)->ExitExclusive();
       }},
      {"RecordHasValue(type) || value.empty()",
       [] { WriteRequest request("key", "value", kTypeDeletion, 0); }},
      {"type != kTypeRangeDeletion || ts.empty()",
       [] { WriteRequest request("a", "b", kTypeRangeDeletion, 0, "12345678"); }},
      {"batch_ != nullptr", [] { (void)WriteRequest("key", "value", kTypeValue, 0).Protect(); }},
      {"request.update() != nullptr",
       [] {
         WriteBatch batch;
         (void)CheckUpdate(WriteRequest(&batch), nullptr, {});
       }},
      {"update.counted",
       [] {
         BatchInsertResult result;
         const BatchRecord record{kTypeLogData, 0, "blob", "", /*counted=*/false};
         (void)InsertUpdate(record, 1, nullptr, &result);
       }},
      {"FamilyTag(type) != kTypeMax",
       [] {
         char record[kRecordStartMax];
         EncodeRecordStart(record, kTypeLogData, /*column_family=*/1, 4);
       }},
      {"input.unflushed_memtables >= 0 && input.l0_files >= 0",
       [] {
         JudgeStall({-1, 0, 0}, ColumnFamilyOptions());
       }},
  });
}

}  // namespace
}  // namespace varve::rules_of_write
