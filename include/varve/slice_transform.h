// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// SliceTransform: takes the prefix of a key, for prefix filters and prefix scans.

#include <cstddef>
#include <memory>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

/// Must be thread-safe. For keys x <= y in the domain, Transform(x) <= Transform(y) must hold, and
/// a prefix must be its own prefix. The name is stored with each file: filters of a file are used
/// only by a transform of that name.
class VARVE_EXPORT SliceTransform : public Customizable {
 public:
  ~SliceTransform() override = default;

  static const char* Type() { return "SliceTransform"; }
  /// The form that CreateFromString() reads; stored in files and OPTIONS.
  std::string AsString() const { return GetId(); }

  /// Reads "fixed:N", "capped:N", "rocksdb.FixedPrefix.N", "rocksdb.CappedPrefix.N" or
  /// "rocksdb.Noop"; "" and "nullptr" give null. NotSupported for anything else.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::shared_ptr<const SliceTransform>* result);

  /// The prefix, a part of `key`'s bytes. Requires InDomain(key).
  virtual Slice Transform(const Slice& key) const = 0;

  /// Whether `key` has a prefix. Keys without are in no prefix filter.
  virtual bool InDomain(const Slice& key) const = 0;

  /// No longer asked by the engine.
  virtual bool InRange(const Slice& /*dst*/) const { return false; }

  /// True, with `*len` set, if every longer key has a prefix of exactly `*len` bytes.
  virtual bool FullLengthEnabled(size_t* /*len*/) const { return false; }

  /// Whether every key that starts with `prefix` has this very prefix. False is always safe.
  virtual bool SameResultWhenAppended(const Slice& /*prefix*/) const { return false; }
};

// Owned by the caller; usually handed to a shared_ptr at once.

/// The first `prefix_len` bytes. Shorter keys have no prefix.
VARVE_EXPORT const SliceTransform* NewFixedPrefixTransform(size_t prefix_len);
/// The first `cap_len` bytes, or the whole of a shorter key.
VARVE_EXPORT const SliceTransform* NewCappedPrefixTransform(size_t cap_len);
/// The whole key.
VARVE_EXPORT const SliceTransform* NewNoopTransform();

}  // namespace varve
