// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Iterator is a cursor over the keys and values of a column family.

#include <cassert>
#include <string>

#include "varve/export.h"
#include "varve/iterator_base.h"

namespace varve {

class VARVE_EXPORT Iterator : public IteratorBase {
 public:
  /// Returns the value, valid until the iterator moves. Requires Valid().
  virtual Slice value() const = 0;

  /// Returns a property of the iterator as text:
  ///   "rocksdb.iterator.is-key-pinned"           1 if key() stays valid for the iterator's life
  ///   "rocksdb.iterator.is-value-pinned"         1 if value() stays valid for the iterator's life
  ///   "rocksdb.iterator.super-version-number"    number of the super-version it reads
  ///   "rocksdb.iterator.internal-key"            user key at which it stands, or gave up
  ///   "rocksdb.iterator.write-time"              NotSupported
  /// Returns InvalidArgument for an unknown name.
  virtual Status GetProperty(std::string prop_name, std::string* prop);

  /// Returns the entry's timestamp; only in column families with timestamps. Requires Valid().
  virtual Slice timestamp() const {
    assert(false);
    return Slice();
  }
};

// The caller owns the results.

/// Returns an iterator without entries whose status is OK.
VARVE_EXPORT Iterator* NewEmptyIterator();
/// Returns an iterator without entries whose status is `status`.
VARVE_EXPORT Iterator* NewErrorIterator(const Status& status);

}  // namespace varve
