// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides an internal iterator over entries that a test has written down.

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"

namespace varve::test {

struct Entry {
  std::string user_key;
  SequenceNumber sequence = 0;
  ValueType type = kTypeValue;
  std::string value;
};

// Serves the entries in the given order, right or wrong. Seek expects the right one. Keys and
// values that it returned are overwritten at its next move.
class ListIterator final : public InternalIterator {
 public:
  explicit ListIterator(const std::vector<Entry>& entries) : icmp_(BytewiseComparator()) {
    for (const Entry& entry : entries) {
      std::string key;
      AppendInternalKey(&key, entry.user_key, entry.sequence, entry.type);
      entries_.emplace_back(std::move(key), entry.value);
    }
  }
  // Entries that NextBatch hands over at once; 1 at first.
  void ServeBatchesOf(size_t n) { batch_size_ = n; }
  // It can tell how old each of its entries is.
  void KnowAges() { knows_ages_ = true; }
  [[nodiscard]] size_t left_out() const { return left_out_; }  // by SkipOlder
  [[nodiscard]] size_t skips_asked() const { return skips_asked_; }
  // The walk fails after the n-th entry.
  void FailAfter(size_t n, Status status) {
    fail_at_ = n;
    failure_ = std::move(status);
  }

  void SeekToFirst() override { MoveTo(0); }
  void SeekToLast() override { MoveTo(entries_.empty() ? 0 : entries_.size() - 1); }
  void Seek(const Slice& target) override {
    size_t i = 0;
    while (i < entries_.size() && icmp_.Compare(entries_[i].first, target) < 0) i++;
    MoveTo(i);
  }
  void SeekForPrev(const Slice& target) override {
    size_t i = entries_.size();
    while (i > 0 && icmp_.Compare(entries_[i - 1].first, target) > 0) i--;
    MoveTo(i == 0 ? entries_.size() : i - 1);
  }
  bool SkipOlder(const Slice& target, SequenceNumber below) override {
    skips_asked_++;
    size_t i = at_;
    while (i < entries_.size() && icmp_.Compare(entries_[i].first, target) < 0 &&
           ExtractSequence(entries_[i].first) < below) {
      i++;
    }
    if (!knows_ages_ || i == at_) return false;
    left_out_ += i - at_ - 1;
    MoveTo(i);
    return true;
  }
  void Next() override { MoveTo(at_ + 1); }
  size_t NextBatch(BatchEntry* out, size_t max) override {
    const size_t end = std::min(entries_.size(), fail_at_);
    size_t n = 0;
    Spoil();
    while (n < std::min(max, batch_size_) && at_ + 1 < end) Lend(++at_, &out[n++]);
    if (n == 0) {
      MoveTo(at_ + 1);
    } else {
      PublishLast(out[n - 1]);
    }
    return n;
  }
  void Prev() override { MoveTo(at_ == 0 ? entries_.size() : at_ - 1); }
  Status status() const override { return at_ >= fail_at_ ? failure_ : Status::OK(); }

 private:
  void MoveTo(size_t i) {
    at_ = i;
    valid_ = i < entries_.size() && i < fail_at_;
    Spoil();
    if (!valid_) return;
    BatchEntry entry;
    Lend(i, &entry);
    PublishLast(entry);
  }
  void Lend(size_t i, BatchEntry* out) {
    lent_.push_back(entries_[i]);
    out->Set(lent_.back().first, lent_.back().second);
  }
  void Spoil() {
    for (auto& [key, value] : lent_) {
      std::fill(key.begin(), key.end(), '#');
      std::fill(value.begin(), value.end(), '#');
    }
    spoiled_ = std::move(lent_);
    lent_.clear();
  }

  InternalKeyComparator icmp_;
  std::vector<std::pair<std::string, std::string>> entries_;
  size_t at_ = 0;
  size_t batch_size_ = 1;
  bool knows_ages_ = false;
  size_t left_out_ = 0;
  size_t skips_asked_ = 0;
  std::deque<std::pair<std::string, std::string>> lent_;
  std::deque<std::pair<std::string, std::string>> spoiled_;  // still there, for readers that look
  size_t fail_at_ = SIZE_MAX;
  Status failure_;
};

}  // namespace varve::test
