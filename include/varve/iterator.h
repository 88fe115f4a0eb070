// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Iterator is a cursor over the keys and values of a column family.
//
//   const std::unique_ptr<varve::Iterator> it(db->NewIterator(varve::ReadOptions()));
//   for (it->Seek("user/"); it->Valid() && it->key().starts_with("user/"); it->Next()) {
//     Show(it->key(), it->value());
//   }
//   if (!it->status().ok()) return it->status();  // an error ends the loop, too
//
// An iterator shows one state, whatever is written meanwhile: that of ReadOptions::snapshot, or of
// the moment at which the iterator was made. Refresh moves it to another one, and with
// ReadOptions::tailing each seek does. Bounds in ReadOptions save reading beyond the range.

#include <cassert>
#include <string>

#include "varve/export.h"
#include "varve/iterator_base.h"
#include "varve/wide_columns.h"

namespace varve {

/// An iterator over keys with their values. IteratorBase says how it moves, and which threads may
/// use it.
class VARVE_EXPORT Iterator : public IteratorBase {
 public:
  /// Returns the value, valid until the iterator moves. Requires Valid().
  virtual Slice value() const = 0;

  /// Returns the columns by ascending name: those of an entity, or the default column alone for a
  /// plain value. Valid until the iterator moves; two threads must not call it at once. Requires
  /// Valid(). Iterators that do not implement it return no columns.
  virtual const WideColumns& columns() const { return kNoWideColumns; }

  /// Returns a property of the iterator as text:
  ///   "rocksdb.iterator.is-key-pinned"           1 if key() stays valid for the iterator's life
  ///   "rocksdb.iterator.is-value-pinned"         1 if value() stays valid for the iterator's life
  ///   "rocksdb.iterator.super-version-number"    number of the super-version (memtables and tables
  ///                                              of one moment) that it reads
  ///   "rocksdb.iterator.internal-key"            user key at which it stands, or at which it gave
  ///                                              up (ReadOptions::max_skippable_internal_keys)
  ///   "rocksdb.iterator.write-time"              NotSupported
  /// Returns InvalidArgument for an unknown name.
  virtual Status GetProperty(std::string prop_name, std::string* prop);

  /// Returns the entry's timestamp; only in column families with timestamps. Requires Valid().
  virtual Slice timestamp() const {
    assert(false);
    return Slice();
  }
};

/// Returns an iterator without entries whose status is OK. The caller owns it.
VARVE_EXPORT Iterator* NewEmptyIterator();
/// Returns an iterator without entries whose status is `status`. The caller owns it.
VARVE_EXPORT Iterator* NewErrorIterator(const Status& status);

}  // namespace varve
