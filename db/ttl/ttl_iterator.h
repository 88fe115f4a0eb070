// SPDX-License-Identifier: Apache-2.0
#pragma once

// TtlIterator iterates over the values that are not expired, and shows them without their stamps.
//
//      base_    a:live  b:expired  c:expired  d:live  e:no stamp
//      Next     a ----------------------------> d ----> invalid, status() is Corruption
//
// Expired entries are passed in the direction of the move, so that Next and Prev see the same
// entries. The time by which they are judged stays that of the iterator's view: a walk does not
// lose entries that expire while it goes on, and agrees with reads at the same snapshot.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "varve/iterator.h"

#include "db/ttl/ttl_state.h"

namespace varve {

// All entries are judged by one time, that of the iterator's view. A value without a stamp makes
// the iterator invalid, with Corruption; a seek clears that. Thread safety: none, as of any
// iterator.
class TtlIterator final : public Iterator {
 public:
  // `base` must load values by itself (allow_unprepared_value is false). `family` lives as long as
  // `state`. `now` is the time, in seconds since 1970, by which entries are judged.
  TtlIterator(std::unique_ptr<Iterator> base, std::shared_ptr<TtlState> state,
              const TtlFamily* family, uint32_t now)
      : base_(std::move(base)), state_(std::move(state)), family_(family), now_(now) {}

  bool Valid() const override { return valid_; }
  void SeekToFirst() override {
    base_->SeekToFirst();
    Settle(Way::kForward);
  }
  void SeekToLast() override {
    base_->SeekToLast();
    Settle(Way::kBackward);
  }
  void Seek(const Slice& target) override {
    base_->Seek(target);
    Settle(Way::kForward);
  }
  void SeekForPrev(const Slice& target) override {
    base_->SeekForPrev(target);
    Settle(Way::kBackward);
  }
  void Next() override {
    base_->Next();
    Settle(Way::kForward);
  }
  void Prev() override {
    base_->Prev();
    Settle(Way::kBackward);
  }
  using Iterator::Refresh;
  Status Refresh(const Snapshot* snapshot) override;
  Slice key() const override { return base_->key(); }
  Slice value() const override { return value_; }
  // A plain value is an entity with the default column alone.
  const WideColumns& columns() const override {
    columns_.assign(1, WideColumn(kDefaultWideColumnName, value_));
    return columns_;
  }
  Status status() const override { return status_.ok() ? base_->status() : status_; }
  Status GetProperty(std::string name, std::string* value) override {
    return base_->GetProperty(std::move(name), value);
  }

 private:
  // Direction in which expired entries are passed.
  enum class Way : uint8_t { kForward, kBackward };

  // Moves the base from its position, in the direction `way`, to the first entry that is not
  // expired.
  void Settle(Way way);

  // Shows stored values, with their stamps.
  const std::unique_ptr<Iterator> base_;
  const std::shared_ptr<TtlState> state_;
  const TtlFamily* const family_;
  // The time that judges all entries; seconds since 1970.
  uint32_t now_;
  bool valid_ = false;
  // The shown value without its stamp; lies in the base.
  Slice value_;
  mutable WideColumns columns_;
  Status status_;  // Corruption for a value without a stamp; other errors are the base's.
};

}  // namespace varve
