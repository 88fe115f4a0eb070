// SPDX-License-Identifier: Apache-2.0
#include "db/engine/lifecycle.h"

#include "db/read/live_snapshots.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"

namespace varve {

Status Lifecycle::CheckNotForked() const {
  if (!forked()) [[likely]]
    return Status::OK();
  return Status::InvalidArgument("the database was opened before fork(), by the parent process");
}

Status Lifecycle::CheckOpen() const {
  if (!closed()) [[likely]]
    return Status::OK();
  Status s = CheckNotForked();
  return s.ok() ? Status::ShutdownInProgress("the database is closed") : s;
}

std::string Lifecycle::OutstandingReferences(const LiveSnapshots& snapshots) const {
  std::string text;
  const auto add = [&text](int64_t count, const char* what) {
    if (count <= 0) return;
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  add(static_cast<int64_t>(snapshots.count()), "snapshot");
  add(references_.iterators.load(std::memory_order_relaxed), "iterator");
  add(references_.handles.load(std::memory_order_relaxed), "column family handle");
  return text;
}

void Lifecycle::MarkForked() {
  // The reason is stored first: whoever finds the database closed because of this finds the reason,
  // too.
  forked_.store(true, std::memory_order_release);
  closed_.store(true, std::memory_order_release);
  ShutDown();
}

void Lifecycle::BeginClosing() {
  VARVE_ASSERT(closing_ == Closing::kNo);
  closing_ = Closing::kUnderWay;
  // The flag serves calls that look at it without a lock, the gate those that Close has to wait
  // for. A call that got through the gate before is waited for.
  closed_.store(true, std::memory_order_release);
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  if (!VARVE_CANARY(kCallsBesideClose)) calls_.Shut();
}

void Lifecycle::EndClosing(const Status& status) noexcept {
  VARVE_ASSERT(closing_ == Closing::kUnderWay);
  Status copy;
  // The closing must come to its end even if memory is out. The callers then learn that it failed,
  // but not why.
  Status copied = Guarded([&] { copy = status; });
  close_status_ = copied.ok() ? std::move(copy) : std::move(copied);
  closing_ = Closing::kOver;
}

}  // namespace varve
