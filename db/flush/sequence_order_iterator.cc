// SPDX-License-Identifier: Apache-2.0

// Keys with timestamps lie in the memtable by key, then newest timestamp, then newest number:
//
//       source    k@30 #7   k@20 #9   k@10 #5          shown    k@0 #9   k@0 #7   k@0 #5
//
// Without timestamps the three are versions of one key, and the number alone decides which is the
// newest; so they are sorted by it, key by key. All get the smallest timestamp, as if the table had
// stored it.

#include "db/flush/sequence_order_iterator.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "util/base/assert.h"

namespace varve {

namespace {

// Takes all entries of a key from the source, and returns them ordered by sequence number.
class SequenceOrderIterator final : public InternalIterator {
 public:
  SequenceOrderIterator(std::unique_ptr<InternalIterator> source, const InternalKeyComparator* icmp)
      : source_(std::move(source)), icmp_(*icmp) {}

  void SeekToFirst() override {
    source_->SeekToFirst();
    TakeKey();
  }
  void Next() override {
    if (++at_ == versions_.size()) return TakeKey();
    Show();
  }
  // Other walks are not needed.
  void Seek(const Slice& /*target*/) override { Refuse(); }
  void SeekToLast() override { Refuse(); }
  void SeekForPrev(const Slice& /*target*/) override { Refuse(); }
  void Prev() override { Refuse(); }
  Status status() const override { return refused_.ok() ? source_->status() : refused_; }

 private:
  struct Version {
    uint64_t trailer;
    Slice value;
  };

  // Takes all versions of the source's next key, and shows the newest one.
  void TakeKey() {
    versions_.clear();
    at_ = 0;
    valid_ = source_->Valid();
    if (!valid_) return;
    key_without_timestamp_.assign(icmp_.KeyOf(source_->key()).data(),
                                  icmp_.KeyOf(source_->key()).size());
    // Values are slices into the memtables, so only the trailers are copied here.
    do {
      versions_.push_back({ExtractTrailer(source_->key()), source_->value()});
      source_->Next();
    } while (source_->Valid() &&
             icmp_.EqualKey(icmp_.KeyOf(source_->key()), key_without_timestamp_));
    std::sort(versions_.begin(), versions_.end(),
              [](const Version& a, const Version& b) { return a.trailer > b.trailer; });
    Show();
  }
  // Shows the version at at_, with the smallest timestamp.
  void Show() {
    VARVE_ASSERT(at_ < versions_.size());
    const Version& version = versions_[at_];
    shown_ = key_without_timestamp_;
    AppendInternalKey(&shown_, icmp_.user_comparator()->GetMinTimestamp(),
                      UnpackSequence(version.trailer), UnpackType(version.trailer));
    key_ = shown_;
    value_ = version.value;
  }
  void Refuse() {
    valid_ = false;
    refused_ = Status::NotSupported("a flush reads its memtables from the first entry on");
  }

  const std::unique_ptr<InternalIterator> source_;
  const InternalKeyComparator& icmp_;
  std::string key_without_timestamp_;
  std::vector<Version> versions_;  // versions of key_without_timestamp_, the newest first
  size_t at_ = 0;
  std::string shown_;
  Status refused_;
};

}  // namespace

std::unique_ptr<InternalIterator> NewSequenceOrderIterator(std::unique_ptr<InternalIterator> source,
                                                           const InternalKeyComparator* icmp) {
  return std::make_unique<SequenceOrderIterator>(std::move(source), icmp);
}

}  // namespace varve
