// SPDX-License-Identifier: Apache-2.0
// Implements an empty iterator with a status.

#include <memory>
#include <utility>

#include "table/iterator/merging_iterator.h"

namespace varve {

namespace {

class EmptyInternalIterator final : public InternalIterator {
 public:
  explicit EmptyInternalIterator(Status status) : status_(std::move(status)) {}

  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice& /*target*/) override {}
  void SeekForPrev(const Slice& /*target*/) override {}
  void Next() override {}
  void Prev() override {}
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

std::unique_ptr<InternalIterator> NewEmptyInternalIterator(Status status) {
  return std::make_unique<EmptyInternalIterator>(std::move(status));
}

}  // namespace varve
