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
  const Status s = db->OpenChangeStream(options, &stream_);
  ASSERT_TRUE(s.ok()) << s.ToString();
  if (acknowledged_ == 0) acknowledged_ = stream_->position();
  ASSERT_EQ(stream_->position(), acknowledged_);
  next_ = acknowledged_;
}

void StreamCheck::Note(DB* db, const WriteBatch& batch, bool logged) {
  if (!logged) return;
  const SequenceNumber last = db->GetLatestSequenceNumber();
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
  }
  next_ = record.last + 1;
}

void StreamCheck::Read(DB* db, bool all) {
  // Records in a log's buffer are not read.
  ASSERT_TRUE(db->FlushWAL(/*sync=*/false).ok());
  const SequenceNumber newest = db->GetLatestSequenceNumber();
  ChangeRecord record;
  for (uint64_t most = all ? UINT64_MAX : 1 + random_->Below(200); most > 0; most--) {
    const Status s = stream_->Next(&record);
    ASSERT_TRUE(s.ok()) << s.ToString();
    if (record.kind == ChangeRecord::Kind::kNothing) {
      ASSERT_EQ(next_, newest + 1);
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
