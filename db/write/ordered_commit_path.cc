// SPDX-License-Identifier: Apache-2.0

// The ordered commit path: writers queue, the head of the queue logs and inserts for a whole group.

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "db/write/batch_reader.h"
#include "db/write/commit_path.h"
#include "db/write/write_batch_internal.h"
#include "util/coding/fixed.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

// A group carries at most this much, so that its first writer is not kept waiting for the others.
constexpr size_t kGroupBytesMax = 1 << 20;
// A small first batch takes at most this much along, for the same reason.
constexpr size_t kSmallBatchBytes = 128 << 10;

struct Writer {
  const WriteOptions* options = nullptr;  // null: wants the path for itself
  WriteBatch* batch = nullptr;
  Status status;
  // 0 queued, 1 at the head, 2 done. Stored with release by whoever hands over the head or
  // finishes the group, read with acquire by the waiting writer: it publishes `status`.
  std::atomic<uint32_t> state{0};

  bool exclusive() const { return batch == nullptr; }
};

constexpr uint32_t kQueued = 0;
constexpr uint32_t kAtHead = 1;
constexpr uint32_t kDone = 2;

class OrderedCommitPath final : public CommitPath {
 public:
  OrderedCommitPath(CommitHost* host, SequenceNumber last_sequence)
      : host_(host), last_sequence_(last_sequence) {}

  Status Commit(const WriteOptions& options, WriteBatch* batch) override {
    Writer self;
    self.options = &options;
    self.batch = batch;
    if (Enqueue(&self) == kDone) return self.status;
    std::vector<Writer*>& group = group_;
    group.assign(1, &self);
    size_t bytes = batch->GetDataSize();
    Status s;
    if (host_->NeedsAttention()) s = host_->PrepareGroup(options, bytes);
    if (s.ok()) {
      JoinFollowers(&group);
      s = CommitGroup(group);
    }
    FinishGroup(group, s);
    return s;
  }

  void EnterExclusive() override {
    auto* self = new Writer;
    Enqueue(self);
    exclusive_ = self;
  }

  void ExitExclusive() override {
    Writer* self = exclusive_;
    exclusive_ = nullptr;
    Writer* next = nullptr;
    {
      MutexLock lock(&mu_);
      queue_.pop_front();
      if (!queue_.empty()) next = queue_.front();
    }
    if (next != nullptr) Wake(next, kAtHead);
    delete self;
  }

 private:
  // Returns when the writer is at the head, or when another one has done its work.
  uint32_t Enqueue(Writer* self) {
    {
      MutexLock lock(&mu_);
      queue_.push_back(self);
      if (queue_.front() == self) return kAtHead;
    }
    uint32_t state = self->state.load(std::memory_order_acquire);
    while (state == kQueued) {
      self->state.wait(kQueued, std::memory_order_acquire);
      state = self->state.load(std::memory_order_acquire);
    }
    return state;
  }

  static void Wake(Writer* writer, uint32_t state) {
    writer->state.store(state, std::memory_order_release);
    writer->state.notify_one();
  }

  // Takes along the writers behind the head that want the same of the log.
  void JoinFollowers(std::vector<Writer*>* group) {
    const Writer& leader = *group->front();
    size_t bytes = leader.batch->GetDataSize();
    const size_t limit = bytes <= kSmallBatchBytes ? bytes + kSmallBatchBytes : kGroupBytesMax;
    MutexLock lock(&mu_);
    for (size_t i = 1; i < queue_.size(); i++) {
      Writer* w = queue_[i];
      if (w->exclusive() || w->options->disableWAL != leader.options->disableWAL ||
          (w->options->sync && !leader.options->sync) ||
          (w->options->no_slowdown && !leader.options->no_slowdown)) {
        break;
      }
      bytes += w->batch->GetDataSize();
      if (bytes > limit) break;
      group->push_back(w);
    }
  }

  Status CommitGroup(const std::vector<Writer*>& group) {
    const SequenceNumber first = last_sequence_ + 1;
    SequenceNumber next = first;
    for (Writer* w : group) {
      WriteBatchInternal::SetSequence(w->batch, next);
      next += WriteBatchInternal::Count(*w->batch);
    }
    // A failed group's sequences are not used again: its record may be in the log.
    last_sequence_ = next - 1;
    const WriteOptions& options = *group.front()->options;
    if (!options.disableWAL) {
      Status s = host_->AppendToLog(GroupRecord(group, first), options.sync);
      if (!s.ok()) {
        host_->OnCommitError(s, /*in_log=*/true);
        return s;
      }
    }
    for (Writer* w : group) {
      const SequenceNumber sequence = WriteBatchInternal::Sequence(*w->batch);
      Status s = host_->Insert(w->batch->Data(), sequence);
      if (!s.ok()) {
        host_->OnCommitError(s, /*in_log=*/false);
        return s;
      }
    }
    host_->Publish(last_sequence_);
    return Status::OK();
  }

  // The group's batches as one log record.
  Slice GroupRecord(const std::vector<Writer*>& group, SequenceNumber first) {
    if (group.size() == 1) return group.front()->batch->Data();
    merged_.resize(kBatchHeaderBytes);
    uint32_t count = 0;
    for (Writer* w : group) {
      const std::string& rep = w->batch->Data();
      merged_.append(rep, kBatchHeaderBytes, std::string::npos);
      count += WriteBatchInternal::Count(*w->batch);
    }
    EncodeFixed64(merged_.data(), first);
    EncodeFixed32(merged_.data() + 8, count);
    return merged_;
  }

  void FinishGroup(const std::vector<Writer*>& group, const Status& s) {
    // group_ belongs to the next head once the queue has changed: a writer that finds it empty is
    // at its head at once.
    const std::vector<Writer*> followers(group.begin() + 1, group.end());
    Writer* next = nullptr;
    {
      MutexLock lock(&mu_);
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(group.size()));
      if (!queue_.empty()) next = queue_.front();
    }
    if (next != nullptr) Wake(next, kAtHead);
    for (Writer* w : followers) {
      w->status = s;
      Wake(w, kDone);
    }
  }

  CommitHost* const host_;
  Mutex mu_;
  std::deque<Writer*> queue_ VARVE_GUARDED_BY(mu_);
  // Below: used by the head of the queue only; handed over with the head.
  SequenceNumber last_sequence_;
  std::string merged_;
  std::vector<Writer*> group_;
  Writer* exclusive_ = nullptr;
};

}  // namespace

std::unique_ptr<CommitPath> NewOrderedCommitPath(CommitHost* host, SequenceNumber last_sequence) {
  return std::make_unique<OrderedCommitPath>(host, last_sequence);
}

}  // namespace varve
