// SPDX-License-Identifier: Apache-2.0

// Implements the public PinnableWideColumns.

#include "varve/wide_columns.h"

#include <utility>

#include "util/key/entity.h"

namespace varve {

PinnableWideColumns::PinnableWideColumns(PinnableWideColumns&& other) noexcept {
  *this = std::move(other);
}

PinnableWideColumns& PinnableWideColumns::operator=(PinnableWideColumns&& other) noexcept {
  if (this == &other) return *this;
  const char* const was = other.value_.data();
  value_ = std::move(other.value_);
  columns_ = std::move(other.columns_);
  other.columns_.clear();
  Rebase(was);
  return *this;
}

// A short value lies in the slice itself, and moves with it.
void PinnableWideColumns::Rebase(const char* was) {
  const char* const now = value_.data();
  if (now == was) return;
  for (WideColumn& column : columns_) {
    // The empty name of the default column may be a literal outside of the value.
    if (!column.name().empty()) column.name().data_ = now + (column.name().data() - was);
    column.value().data_ = now + (column.value().data() - was);
  }
}

void PinnableWideColumns::SetPlainValue(const Slice& value) {
  value_.Reset();
  value_.PinSelf(value);
  ShowPlain();
}

void PinnableWideColumns::SetPlainValue(const Slice& value, Cleanable* cleanable) {
  value_.Reset();
  value_.PinSlice(value, cleanable);
  ShowPlain();
}

void PinnableWideColumns::SetPlainValue(PinnableSlice&& value) {
  value_ = std::move(value);
  ShowPlain();
}

void PinnableWideColumns::SetPlainValue(std::string&& value) {
  value_.Reset();
  *value_.GetSelf() = std::move(value);
  value_.PinSelf();
  ShowPlain();
}

Status PinnableWideColumns::SetWideColumnValue(const Slice& value) {
  value_.Reset();
  value_.PinSelf(value);
  return ShowEntity();
}

Status PinnableWideColumns::SetWideColumnValue(const Slice& value, Cleanable* cleanable) {
  value_.Reset();
  value_.PinSlice(value, cleanable);
  return ShowEntity();
}

Status PinnableWideColumns::SetWideColumnValue(PinnableSlice&& value) {
  value_ = std::move(value);
  return ShowEntity();
}

Status PinnableWideColumns::SetWideColumnValue(std::string&& value) {
  value_.Reset();
  *value_.GetSelf() = std::move(value);
  value_.PinSelf();
  return ShowEntity();
}

void PinnableWideColumns::Reset() {
  value_.Reset();
  columns_.clear();
}

void PinnableWideColumns::ShowPlain() {
  columns_.clear();
  columns_.emplace_back(kDefaultWideColumnName, value_);
}

Status PinnableWideColumns::ShowEntity() {
  Status s = DecodeEntity(value_, &columns_);
  if (!s.ok()) Reset();
  return s;
}

}  // namespace varve
