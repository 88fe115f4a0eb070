// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// SliceTransform extracts the prefix of a key, for prefix filters and prefix scans.
//
//   options.prefix_extractor.reset(varve::NewFixedPrefixTransform(8));

#include <cstddef>
#include <memory>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

/// Extracts the prefix of a key, if the key has one (is in the domain). Keys are user keys without
/// timestamps. Must be thread-safe. For keys x <= y in the domain, Transform(x) <= Transform(y)
/// must hold, and a prefix must be its own prefix. The name is stored with each file; a file's
/// filters are used only by a transform of that name.
class VARVE_EXPORT SliceTransform : public Customizable {
 public:
  ~SliceTransform() override = default;

  static const char* Type() { return "SliceTransform"; }
  /// Returns the text that CreateFromString() accepts; stored in files and OPTIONS.
  std::string AsString() const { return GetId(); }

  /// Accepts "fixed:N", "capped:N", "rocksdb.FixedPrefix.N", "rocksdb.CappedPrefix.N" or
  /// "rocksdb.Noop", or a registered object; sets *result to null for "" and "nullptr".
  /// NotSupported for anything else.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::shared_ptr<const SliceTransform>* result);

  /// Returns the prefix, which points into `key`. Requires InDomain(key).
  virtual Slice Transform(const Slice& key) const = 0;

  /// True if `key` has a prefix. Other keys are in no prefix filter.
  virtual bool InDomain(const Slice& key) const = 0;

  /// Has no effect: the engine does not call it.
  virtual bool InRange(const Slice& /*dst*/) const { return false; }

  /// True, with `*len` set, if every key of more than `*len` bytes has a prefix of exactly `*len`
  /// bytes. The default leaves `*len` alone.
  virtual bool FullLengthEnabled(size_t* /*len*/) const { return false; }

  /// True if every key that starts with `prefix` has exactly this prefix. False is always safe.
  virtual bool SameResultWhenAppended(const Slice& /*prefix*/) const { return false; }
};

// The caller owns the results, and usually hands them to a shared_ptr at once.

/// The prefix is the first `prefix_len` bytes; shorter keys have no prefix.
VARVE_EXPORT const SliceTransform* NewFixedPrefixTransform(size_t prefix_len);
/// The prefix is the first `cap_len` bytes, or the whole of a shorter key.
VARVE_EXPORT const SliceTransform* NewCappedPrefixTransform(size_t cap_len);
/// The prefix is the whole key.
VARVE_EXPORT const SliceTransform* NewNoopTransform();

}  // namespace varve
