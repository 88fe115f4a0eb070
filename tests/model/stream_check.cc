// SPDX-License-Identifier: Apache-2.0
#include "tests/model/stream_check.h"

#include <gtest/gtest.h>

#include <iterator>

namespace varve::testing {

namespace {

// Returns the batch without its first eight bytes, the sequence number.
std::string UpdatesOf(const WriteBatch& batch) {
  return batch.Data().substr(sizeof(SequenceNumber));
}

}  // namespace

void StreamCheck::Open(DB* db) {
  ChangeStreamOptions options;
  options.name = "model";
  options.durable_only = durable_only_ = random_->OneIn(3);
  options.create_if_missing = acknowledged_ == 0;
  if (random_->OneIn(2)) options.from = acknowledged_;
  // Bounds that a run does not reach.
  if (random_->OneIn(2)) options.max_retained_bytes = uint64_t{1} << 40;
  if (random_->OneIn(2)) options.max_idle_seconds = 24 * 3600;
  const Status s = db->OpenChangeStream(options, &stream_);
  ASSERT_TRUE(s.ok()) << s.ToString();
  if (acknowledged_ == 0) acknowledged_ = stream_->position();
  ASSERT_EQ(stream_->position(), acknowledged_);
  next_ = acknowledged_;
}

void StreamCheck::Note(DB* db, const WriteBatch& batch, bool logged) {
  const SequenceNumber last = db->GetLatestSequenceNumber();
  if (!logged) {
    unlogged_[last + 1 - batch.Count()] = last;
    return;
  }
  logged_[last + 1 - batch.Count()] = Written{last, UpdatesOf(batch)};
}

void StreamCheck::Compare(const ChangeRecord& record) {
  ASSERT_EQ(record.first, next_);
  if (record.kind == ChangeRecord::Kind::kBatch) {
    const auto written = logged_.find(record.first);
    if (written == logged_.end()) {
      const auto after = removals_.upper_bound(record.first);
      ASSERT_TRUE(after != removals_.begin() && std::prev(after)->second >= record.last)
          << "nothing was logged at " << record.first;
    } else {
      ASSERT_EQ(record.last, written->second.last);
      ASSERT_TRUE(UpdatesOf(record.batch) == written->second.updates) << "at " << record.first;
    }
  } else {
    ASSERT_GE(record.last, record.first);
    const auto after = logged_.lower_bound(record.first);
    ASSERT_TRUE(after == logged_.end() || after->first > record.last)
        << "the gap " << record.first << " to " << record.last << " has what was logged";
    if (record.families.has_value()) {
      const auto unlogged = unlogged_.lower_bound(record.first);
      ASSERT_TRUE(unlogged == unlogged_.end() || unlogged->first > record.last ||
                  !record.families->empty())
          << "the gap " << record.first << " to " << record.last << " names no family";
    }
  }
  next_ = record.last + 1;
}

void StreamCheck::Read(DB* db, bool all) {
  // Records in a log's buffer are not read, nor what is not durable if the stream skips that.
  ASSERT_TRUE(db->FlushWAL(/*sync=*/durable_only_).ok());
  const SequenceNumber newest = db->GetLatestSequenceNumber();
  ChangeRecord record;
  for (uint64_t most = all ? UINT64_MAX : 1 + random_->Below(200); most > 0; most--) {
    const Status s = stream_->Next(&record);
    ASSERT_TRUE(s.ok()) << s.ToString();
    if (record.kind == ChangeRecord::Kind::kNothing) {
      // A gap at the end is told once the log behind it is durable.
      if (durable_only_) {
        ASSERT_TRUE(logged_.lower_bound(next_) == logged_.end()) << "the stream ends at " << next_;
      } else {
        ASSERT_EQ(next_, newest + 1);
      }
      break;
    }
    Compare(record);
    if (::testing::Test::HasFatalFailure()) return;
  }
  if (next_ == stream_->position() || random_->OneIn(3)) return;
  ASSERT_TRUE(stream_->Acknowledge(next_ - 1, /*durably=*/random_->OneIn(4)).ok());
  acknowledged_ = next_;
  ASSERT_EQ(stream_->position(), acknowledged_);
  logged_.erase(logged_.begin(), logged_.lower_bound(acknowledged_));
}

}  // namespace varve::testing
