// SPDX-License-Identifier: Apache-2.0
#include "table/iterator/bare_key_iterator.h"

#include <string>
#include <utility>

namespace varve {

namespace {

class BareKeyIterator final : public InternalIterator {
 public:
  BareKeyIterator(std::unique_ptr<InternalIterator> bare, const InternalKeyComparator* icmp)
      : bare_(std::move(bare)), icmp_(*icmp), oldest_(icmp->user_comparator()->GetMinTimestamp()) {}

  void SeekToFirst() override {
    bare_->SeekToFirst();
    Publish();
  }
  void SeekToLast() override {
    bare_->SeekToLast();
    Publish();
  }
  void Seek(const Slice& target) override {
    bare_->Seek(BareTarget(target));
    Publish();
  }
  void SeekForPrev(const Slice& target) override {
    bare_->SeekForPrev(BareTarget(target));
    Publish();
  }
  void Next() override {
    bare_->Next();
    Publish();
  }
  void Prev() override {
    bare_->Prev();
    Publish();
  }
  Status status() const override { return bare_->status(); }
  bool PinValue(Cleanable* pin) override { return bare_->PinValue(pin); }
  bool IsValuePinned() const override { return bare_->IsValuePinned(); }

 private:
  // All entries of a key come behind its newer timestamps.
  const std::string& BareTarget(const Slice& target) {
    const Slice key = icmp_.KeyOf(target);
    const Slice timestamp = icmp_.TimestampOf(ExtractUserKey(target));
    target_.assign(key.data(), key.size());
    PutFixed64(&target_, icmp_.CompareTimestamp(timestamp, oldest_) > 0
                             ? PackSequenceAndType(kMaxSequenceNumber, kValueTypeForSeek)
                             : ExtractTrailer(target));
    return target_;
  }
  void Publish() {
    valid_ = bare_->Valid();
    if (!valid_) return;
    const Slice& key = bare_->key();
    const size_t key_bytes = key.size() - kInternalKeyTrailerBytes;
    shown_.assign(key.data(), key_bytes);
    shown_.append(oldest_.data(), oldest_.size());
    shown_.append(key.data() + key_bytes, kInternalKeyTrailerBytes);
    key_ = shown_;
    value_ = bare_->value();
  }

  const std::unique_ptr<InternalIterator> bare_;
  const InternalKeyComparator& icmp_;
  const Slice oldest_;
  std::string target_;
  std::string shown_;
};

}  // namespace

std::unique_ptr<InternalIterator> NewBareKeyIterator(std::unique_ptr<InternalIterator> bare,
                                                     const InternalKeyComparator* icmp) {
  return std::make_unique<BareKeyIterator>(std::move(bare), icmp);
}

}  // namespace varve
