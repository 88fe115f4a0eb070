// SPDX-License-Identifier: Apache-2.0
#include "db/background/write_host.h"

#include <string_view>

#include "db/background/merge_folding.h"
#include "db/write/batch_inserter.h"
#include "util/base/canary.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Whether all logs together are too large is looked at when they have grown by this much.
constexpr uint64_t kLogBytesBetweenChecks = 64 << 10;

bool SameError(const Status& a, const Status& b) {
  const auto text = [](const Status& s) {
    return s.getState() == nullptr ? std::string_view() : std::string_view(s.getState());
  };
  return a == b && a.subcode() == b.subcode() && text(a) == text(b);
}

}  // namespace

Status WriteHost::Refusal() {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  return e.WriteRefusal();
}

Status WriteHost::ReserveLog(size_t bytes, wal::LogPlace* place) {
  Engine& e = *engine_;
  RecordTick(e.statistics, WAL_FILE_BYTES, bytes);
  logged_since_check_ += bytes;
  if (logged_since_check_ >= kLogBytesBetweenChecks) {
    logged_since_check_ = 0;
    e.attention.store(true, std::memory_order_release);
  }
  return e.logs->Reserve(bytes, place);
}

Status WriteHost::SyncLog(const wal::LogPlace& place) {
  Engine& e = *engine_;
  StopWatch watch(e.clock, e.statistics, WAL_FILE_SYNC_MICROS);
  RecordTick(e.statistics, WAL_FILE_SYNCED);
  return e.logs->SyncTo(place);
}

Status WriteHost::Insert(const WriteRequest& request, SequenceNumber sequence) {
  Engine& e = *engine_;
  BatchInsertResult result;
  Status s;
  if (request.has_merges()) [[unlikely]] {
    FoldingResolver folding(engine_, sequence);
    s = InsertRequest(request, sequence, &folding, &result);
  } else {
    s = InsertRequest(request, sequence, &e.families, &result);
  }
  if (e.families.TakeFullFlag() || e.write_buffer_manager->ShouldFlush() ||
      e.write_buffer_manager->ShouldStall()) {
    e.attention.store(true, std::memory_order_release);
  }
  RecordTick(e.statistics, NUMBER_KEYS_WRITTEN, result.inserted);
  RecordTick(e.statistics, BYTES_WRITTEN, request.bytes());
  RecordInHistogram(e.statistics, BYTES_PER_WRITE, request.bytes());
  return s;
}

// All writes that depend on one append fail with its error, which is reported once.
Status WriteHost::OnLogError(const Status& status) {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  if (e.errors.writes_stopped() && SameError(e.errors.error(), status)) {
    return ErrorState::Judged(status, BackgroundErrorReason::kWriteCallback);
  }
  return e.ReportedError(status, BackgroundErrorReason::kWriteCallback);
}

// What is in memory of the batch is out of sight from here on, and will not get into tables; its
// log has it whole. Recovery moves all families beyond that log in one step, after which the batch
// is nowhere.
Status WriteHost::OnInsertError(const Status& status, SequenceNumber first, SequenceNumber last) {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  const bool noted = e.voided->Add(first, last);
  for (const auto& [id, family] : e.families.all()) {
    if (!VARVE_CANARY(kKeepHalfInsertion)) family->mem()->LeaveOut(e.voided);
  }
  return e.ReportedError(
      noted ? status : Status::Corruption("write: more failed than can be told apart"),
      BackgroundErrorReason::kMemTable);
}

}  // namespace varve
