// SPDX-License-Identifier: Apache-2.0
#include "table/iterator/timestamp_adding_iterator.h"

#include <string>
#include <utility>

#include "util/base/assert.h"

namespace varve {

namespace {

class TimestampAddingIterator final : public InternalIterator {
 public:
  TimestampAddingIterator(std::unique_ptr<InternalIterator> source,
                          const InternalKeyComparator* icmp)
      : source_(std::move(source)),
        icmp_(*icmp),
        oldest_(icmp->user_comparator()->GetMinTimestamp()) {}

  void SeekToFirst() override {
    source_->SeekToFirst();
    Publish();
  }
  void SeekToLast() override {
    source_->SeekToLast();
    Publish();
  }
  void Seek(const Slice& target) override {
    source_->Seek(WithoutTimestamp(target));
    Publish();
  }
  void SeekForPrev(const Slice& target) override {
    source_->SeekForPrev(WithoutTimestamp(target));
    Publish();
  }
  void Next() override {
    source_->Next();
    Publish();
  }
  void Prev() override {
    source_->Prev();
    Publish();
  }
  Status status() const override { return source_->status(); }
  bool PinValue(Cleanable* pin) override { return source_->PinValue(pin); }
  bool IsValuePinned() const override { return source_->IsValuePinned(); }

 private:
  // Returns the target without its timestamp. If that is not the oldest, the target comes before
  // all entries of its key.
  const std::string& WithoutTimestamp(const Slice& target) {
    const Slice key = icmp_.KeyOf(target);
    const Slice timestamp = icmp_.TimestampOf(ExtractUserKey(target));
    target_.assign(key.data(), key.size());
    PutFixed64(&target_, icmp_.CompareTimestamp(timestamp, oldest_) > 0
                             ? PackSequenceAndType(kMaxSequenceNumber, kValueTypeForSeek)
                             : ExtractTrailer(target));
    return target_;
  }
  // Shows the source's entry, with the oldest timestamp between user key and trailer.
  void Publish() {
    valid_ = source_->Valid();
    if (!valid_) return;
    const Slice& key = source_->key();
    VARVE_ASSERT(key.size() >= kInternalKeyTrailerBytes);
    const size_t key_bytes = key.size() - kInternalKeyTrailerBytes;
    shown_.assign(key.data(), key_bytes);
    shown_.append(oldest_.data(), oldest_.size());
    shown_.append(key.data() + key_bytes, kInternalKeyTrailerBytes);
    key_ = shown_;
    value_ = source_->value();
  }

  const std::unique_ptr<InternalIterator> source_;
  const InternalKeyComparator& icmp_;
  const Slice oldest_;
  std::string target_;
  std::string shown_;
};

}  // namespace

std::unique_ptr<InternalIterator> NewTimestampAddingIterator(
    std::unique_ptr<InternalIterator> source, const InternalKeyComparator* icmp) {
  return std::make_unique<TimestampAddingIterator>(std::move(source), icmp);
}

}  // namespace varve
