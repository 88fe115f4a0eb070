// SPDX-License-Identifier: Apache-2.0

// Implements the built-in prefix extractors, and the parsing of their names.

#include "varve/slice_transform.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "util/base/assert.h"
#include "util/base/registered_object.h"

namespace varve {

namespace {

constexpr std::string_view kFixedName = "rocksdb.FixedPrefix.";
constexpr std::string_view kFixedNickName = "fixed:";
constexpr std::string_view kCappedName = "rocksdb.CappedPrefix.";
constexpr std::string_view kCappedNickName = "capped:";
constexpr std::string_view kNoopName = "rocksdb.Noop";

// The length is part of the name: prefixes of another length must not meet in a filter.
std::string NameWithLength(std::string_view name, size_t length) {
  return std::string(name) + std::to_string(length);
}

class FixedPrefix final : public SliceTransform {
 public:
  explicit FixedPrefix(size_t length)
      : length_(length), name_(NameWithLength(kFixedName, length)) {}

  const char* Name() const override { return name_.c_str(); }
  Slice Transform(const Slice& key) const override {
    VARVE_ASSERT(InDomain(key));
    return Slice(key.data(), length_);
  }
  bool InDomain(const Slice& key) const override { return key.size() >= length_; }
  bool InRange(const Slice& dst) const override { return dst.size() == length_; }
  bool FullLengthEnabled(size_t* len) const override {
    *len = length_;
    return true;
  }
  bool SameResultWhenAppended(const Slice& prefix) const override { return InDomain(prefix); }

 private:
  const size_t length_;
  const std::string name_;
};

class CappedPrefix final : public SliceTransform {
 public:
  explicit CappedPrefix(size_t cap) : cap_(cap), name_(NameWithLength(kCappedName, cap)) {}

  const char* Name() const override { return name_.c_str(); }
  Slice Transform(const Slice& key) const override {
    return Slice(key.data(), std::min(key.size(), cap_));
  }
  bool InDomain(const Slice& /*key*/) const override { return true; }
  bool InRange(const Slice& dst) const override { return dst.size() <= cap_; }
  bool FullLengthEnabled(size_t* len) const override {
    *len = cap_;
    return true;
  }
  // A shorter key is its own prefix, and more bytes would change that.
  bool SameResultWhenAppended(const Slice& prefix) const override { return prefix.size() >= cap_; }

 private:
  const size_t cap_;
  const std::string name_;
};

class Noop final : public SliceTransform {
 public:
  const char* Name() const override { return kNoopName.data(); }
  Slice Transform(const Slice& key) const override { return key; }
  bool InDomain(const Slice& /*key*/) const override { return true; }
  bool InRange(const Slice& /*dst*/) const override { return true; }
};

// Returns the number that makes up the rest of `id` after `name`.
std::optional<size_t> LengthAfter(std::string_view id, std::string_view name) {
  if (!id.starts_with(name)) return std::nullopt;
  id.remove_prefix(name.size());
  size_t length = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), length);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  return length;
}

}  // namespace

Status SliceTransform::CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                        std::shared_ptr<const SliceTransform>* result) {
  if (id.empty() || id == "nullptr") {
    result->reset();
    return Status::OK();
  }
  Status s = NewRegisteredObject(config_options, id, result);
  if (!s.IsNotFound()) return s;
  if (id == kNoopName) {
    *result = std::make_shared<const Noop>();
    return Status::OK();
  }
  for (const std::string_view name : {kFixedName, kFixedNickName}) {
    if (const auto length = LengthAfter(id, name)) {
      *result = std::make_shared<const FixedPrefix>(*length);
      return Status::OK();
    }
  }
  for (const std::string_view name : {kCappedName, kCappedNickName}) {
    if (const auto length = LengthAfter(id, name)) {
      *result = std::make_shared<const CappedPrefix>(*length);
      return Status::OK();
    }
  }
  return Status::NotSupported("No prefix extractor of this name is built in or registered", id);
}

const SliceTransform* NewFixedPrefixTransform(size_t prefix_len) {
  return std::make_unique<const FixedPrefix>(prefix_len).release();
}

const SliceTransform* NewCappedPrefixTransform(size_t cap_len) {
  return std::make_unique<const CappedPrefix>(cap_len).release();
}

const SliceTransform* NewNoopTransform() {
  return std::make_unique<const Noop>().release();
}

}  // namespace varve
