// SPDX-License-Identifier: Apache-2.0
#pragma once

// An internal iterator over entries that a test has written down.

#include <algorithm>
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

// Serves the entries in the given order, right or wrong. Seek expects the right one.
class ListIterator final : public InternalIterator {
 public:
  explicit ListIterator(const std::vector<Entry>& entries) : icmp_(BytewiseComparator()) {
    for (const Entry& entry : entries) {
      std::string key;
      AppendInternalKey(&key, entry.user_key, entry.sequence, entry.type);
      entries_.emplace_back(std::move(key), entry.value);
    }
  }
  // The walk fails behind the n-th entry.
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
  void Next() override { MoveTo(at_ + 1); }
  void Prev() override { MoveTo(at_ == 0 ? entries_.size() : at_ - 1); }
  Status status() const override { return at_ >= fail_at_ ? failure_ : Status::OK(); }

 private:
  void MoveTo(size_t i) {
    at_ = i;
    valid_ = i < entries_.size() && i < fail_at_;
    if (!valid_) return;
    key_ = entries_[i].first;
    value_ = entries_[i].second;
  }

  InternalKeyComparator icmp_;
  std::vector<std::pair<std::string, std::string>> entries_;
  size_t at_ = 0;
  size_t fail_at_ = SIZE_MAX;
  Status failure_;
};

}  // namespace varve::test
