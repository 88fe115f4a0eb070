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
  forked_.store(true, std::memory_order_release);
  closed_.store(true, std::memory_order_release);
  ShutDown();
}

void Lifecycle::BeginClosing() {
  VARVE_ASSERT(closing_ == Closing::kNo);
  closing_ = Closing::kUnderWay;
  closed_.store(true, std::memory_order_release);
  if (!VARVE_CANARY(kCallsBesideClose)) calls_.Shut();
}

void Lifecycle::EndClosing(const Status& status) noexcept {
  VARVE_ASSERT(closing_ == Closing::kUnderWay);
  Status copy;
  BestEffort([&] { copy = status; });
  close_status_ = std::move(copy);
  closing_ = Closing::kOver;
}

}  // namespace varve
