// SPDX-License-Identifier: Apache-2.0

// The iterators that have nothing to yield.

#include "varve/iterator.h"

#include <cassert>
#include <memory>
#include <string>
#include <utility>

namespace varve {

namespace {

class NothingIterator final : public Iterator {
 public:
  explicit NothingIterator(Status status) : status_(std::move(status)) {}

  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice& /*target*/) override {}
  void SeekForPrev(const Slice& /*target*/) override {}
  void Next() override { assert(false); }
  void Prev() override { assert(false); }
  Slice key() const override {
    assert(false);
    return Slice();
  }
  Slice value() const override {
    assert(false);
    return Slice();
  }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

Status Iterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop == nullptr) return Status::InvalidArgument("GetProperty: no place for the answer");
  if (prop_name == "rocksdb.iterator.is-key-pinned") {
    *prop = "0";
    return Status::OK();
  }
  return Status::InvalidArgument("Unidentified property", prop_name);
}

Iterator* NewEmptyIterator() {
  return std::make_unique<NothingIterator>(Status::OK()).release();
}

Iterator* NewErrorIterator(const Status& status) {
  return std::make_unique<NothingIterator>(status).release();
}

}  // namespace varve
