// SPDX-License-Identifier: Apache-2.0
#pragma once

// Iterates over the values that are not expired, without their stamps.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "varve/iterator.h"

#include "db/ttl/ttl_state.h"

namespace varve {

// One time, that of its view, judges all entries. A value without a stamp ends the walk as
// Corruption; a seek goes on.
class TtlIterator final : public Iterator {
 public:
  // `base` loads values by itself. The family lives as long as the state.
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
  Status status() const override { return status_.ok() ? base_->status() : status_; }
  Status GetProperty(std::string name, std::string* value) override {
    return base_->GetProperty(std::move(name), value);
  }

 private:
  enum class Way : uint8_t { kForward, kBackward };

  // Skips expired entries, from the position of the base.
  void Settle(Way way);

  const std::unique_ptr<Iterator> base_;
  const std::shared_ptr<TtlState> state_;
  const TtlFamily* const family_;
  uint32_t now_;
  bool valid_ = false;
  Slice value_;
  Status status_;  // Besides the base's.
};

}  // namespace varve
