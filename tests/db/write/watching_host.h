// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a host of a commit path that only records what is logged, inserted and published, in
// which order; it fails and blocks if the test wants it.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "db/write/batch_reader.h"
#include "db/write/commit_path.h"

namespace varve {

// Thread safety: all. The log has one place a record; sequences tell whether all is in order.
class WatchingHost : public CommitHost, public wal::CommitLog {
 public:
  explicit WatchingHost(SequenceNumber last) : published_(last), last_(last) {}

  bool BytesDecideIn(uint32_t /*column_family*/) override { return true; }
  bool Refuses(const WriteRequest&) const override {
    return refuses.load(std::memory_order_relaxed);
  }
  Status Refusal(WriteRequest*) override {
    return refuses ? Status::Aborted("refused") : Status::OK();
  }
  Status ReserveLog(size_t bytes, wal::LogReservation* place) override {
    if (fail_reserve) return Status::IOError("reserve");
    EXPECT_FALSE(reserving_.exchange(true)) << "reservations overlap";
    Status s = Reserve(bytes, place);
    reserving_ = false;
    return s;
  }
  Status SyncLog(const wal::LogReservation& place) override {
    EXPECT_EQ(place.log, this);
    syncs++;
    return fail_sync ? Status::IOError("sync") : Status::OK();
  }
  IOStatus Reserve(size_t bytes, wal::LogReservation* place) override {
    std::lock_guard<std::mutex> lock(mu_);
    place->log = this;
    place->bytes = bytes;
    place->ticket = records_.size();
    records_.emplace_back();
    return IOStatus::OK();
  }
  using wal::CommitLog::Fill;
  void Fill(const wal::LogReservation& place, const Slice& head, const Slice& tail) override {
    const std::string record = head.ToString() + tail.ToString();
    EXPECT_EQ(place.bytes, record.size());
    EXPECT_TRUE(CheckBatchStructure(record).ok());
    std::lock_guard<std::mutex> lock(mu_);
    EXPECT_TRUE(records_[place.ticket].empty());
    records_[place.ticket] = record;
    changed_.notify_all();
  }
  IOStatus WaitWhole(const wal::LogReservation& place) override {
    std::unique_lock<std::mutex> lock(mu_);
    changed_.wait(lock, [&] {
      return std::none_of(records_.begin(),
                          records_.begin() + static_cast<ptrdiff_t>(place.ticket) + 1,
                          [](const std::string& record) { return record.empty(); });
    });
    return fail_append ? IOStatus::IOError("append") : IOStatus::OK();
  }
  IOStatus AddTimestampSizes(const Slice&) override { return IOStatus::OK(); }
  IOStatus Flush() override { return IOStatus::OK(); }
  IOStatus HandOver(uint64_t*) override { return IOStatus::OK(); }
  using wal::CommitLog::Sync;
  IOStatus Sync(bool, wal::LogExtent*) override { return IOStatus::OK(); }
  uint64_t last_ticket() const override { return 0; }
  IOStatus Close() override { return IOStatus::OK(); }
  uint64_t number() const override { return 1; }
  uint64_t size() const override { return 0; }
  bool failed() const override { return false; }

  Status Insert(const WriteRequest& request, SequenceNumber sequence) override {
    EXPECT_FALSE(exclusive.load());
    const std::string rep = request.head().ToString() + request.tail().ToString();
    BatchReader reader(rep);
    EXPECT_EQ(reader.sequence(), sequence);
    BatchRecord record;
    bool blocked = false;
    bool fails = false;
    while (reader.Next(&record)) {
      blocked = blocked || record.key == Slice("block");
      fails = fails || record.key == Slice("fail");
    }
    std::unique_lock<std::mutex> lock(mu_);
    inserting_now_++;
    most_at_once = std::max(most_at_once.load(), inserting_now_);
    if (blocked) {
      blocked_++;
      changed_.notify_all();
      changed_.wait(lock, [&] { return unblocked_; });
    }
    for (uint32_t i = 0; i < reader.count() && !fails; i++) {
      EXPECT_TRUE(inserted_.insert(sequence + i).second) << "a sequence is used twice";
    }
    inserting_now_--;
    return fails ? Status::MemoryLimit("insert") : Status::OK();
  }
  // Checks that visible entries are inserted, without gaps but for those that failed before their
  // insertion.
  void Publish(SequenceNumber sequence) override {
    std::lock_guard<std::mutex> lock(mu_);
    EXPECT_GE(sequence, published());
    for (SequenceNumber s = published() + 1; s <= sequence && !allow_gaps; s++) {
      EXPECT_EQ(inserted_.count(s) + invalidated_.count(s), 1u)
          << s << " is published and not there";
    }
    published_.store(sequence, std::memory_order_release);
  }
  Status OnLogError(const Status& status) override {
    log_errors++;
    return status;
  }
  Status OnInsertError(const Status& status, SequenceNumber first, SequenceNumber last) override {
    std::lock_guard<std::mutex> lock(mu_);
    EXPECT_LT(published(), first) << "it was visible before it was invalidated";
    for (SequenceNumber s = first; s <= last; s++) invalidated_.insert(s);
    insert_errors++;
    return status;
  }

  SequenceNumber published() const { return published_.load(std::memory_order_acquire); }
  bool Inserted(SequenceNumber sequence) {
    std::lock_guard<std::mutex> lock(mu_);
    return inserted_.count(sequence) != 0;
  }
  size_t inserted_count() {
    std::lock_guard<std::mutex> lock(mu_);
    return inserted_.size();
  }
  // Returns when so many insertions of the key "block" wait for Unblock.
  void AwaitBlocked(int count) {
    std::unique_lock<std::mutex> lock(mu_);
    changed_.wait(lock, [&] { return blocked_ >= count; });
  }
  void Unblock() {
    std::lock_guard<std::mutex> lock(mu_);
    unblocked_ = true;
    changed_.notify_all();
  }
  // The log's records in their order, after checking that their sequences are.
  std::vector<std::string> TakeRecords() {
    std::lock_guard<std::mutex> lock(mu_);
    SequenceNumber next = last_ + 1;
    for (const std::string& record : records_) {
      BatchReader reader(record);
      EXPECT_GE(reader.sequence(), next);
      next = reader.sequence() + reader.count();
    }
    return records_;
  }

  std::atomic<bool> refuses{false};
  std::atomic<bool> exclusive{false};
  std::atomic<bool> fail_reserve{false};
  std::atomic<bool> fail_append{false};
  std::atomic<bool> fail_sync{false};
  std::atomic<bool> allow_gaps{false};
  std::atomic<int> syncs{0};
  std::atomic<int> log_errors{0};
  std::atomic<int> insert_errors{0};
  std::atomic<int> most_at_once{0};

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  std::atomic<bool> reserving_{false};
  std::vector<std::string> records_;
  std::set<SequenceNumber> inserted_;
  std::set<SequenceNumber> invalidated_;
  std::atomic<SequenceNumber> published_;
  const SequenceNumber last_;
  int blocked_ = 0;
  int inserting_now_ = 0;
  bool unblocked_ = false;
};

}  // namespace varve
