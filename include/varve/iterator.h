// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Iterator: a cursor over the keys and values of a column family.

#include <cassert>
#include <string>

#include "varve/export.h"
#include "varve/iterator_base.h"

namespace varve {

class VARVE_EXPORT Iterator : public IteratorBase {
 public:
  /// The value, valid until the iterator moves. Requires Valid().
  virtual Slice value() const = 0;

  /// Answers, as text, a question about the iterator:
  ///   "rocksdb.iterator.is-key-pinned"           1 if key() stays valid until the iterator dies
  ///   "rocksdb.iterator.is-value-pinned"         the same of value()
  ///   "rocksdb.iterator.super-version-number"    the LSM version it reads
  ///   "rocksdb.iterator.internal-key"            user key of the entry at which it stopped
  ///   "rocksdb.iterator.write-time"              approximate time of write, seconds
  /// InvalidArgument for a name the iterator does not know.
  virtual Status GetProperty(std::string prop_name, std::string* prop);

  /// Timestamp of the entry; only in column families with timestamps. Requires Valid().
  virtual Slice timestamp() const {
    assert(false);
    return Slice();
  }
};

// Both are owned by the caller.

/// Yields nothing, with status OK.
VARVE_EXPORT Iterator* NewEmptyIterator();
/// Yields nothing and reports `status`.
VARVE_EXPORT Iterator* NewErrorIterator(const Status& status);

}  // namespace varve
