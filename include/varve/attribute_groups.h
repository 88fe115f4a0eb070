// SPDX-License-Identifier: Apache-2.0
#pragma once

// AttributeGroup and PinnableAttributeGroup: entities of one key in several column families, which
// DB::PutEntity and DB::GetEntity write and read together. Each family has one group of the key's
// columns, so that columns that are read together lie together.
//
//   varve::AttributeGroups groups;
//   groups.emplace_back(names, varve::WideColumns{{"first", "Ada"}});
//   groups.emplace_back(scores, varve::WideColumns{{"chess", "1800"}});
//   varve::Status s = db->PutEntity(varve::WriteOptions(), "user17", groups);
//
//   varve::PinnableAttributeGroups found;
//   found.emplace_back(names);
//   found.emplace_back(scores);
//   s = db->GetEntity(varve::ReadOptions(), "user17", &found);  // found[i].status(), .columns()

#include <utility>
#include <vector>

#include "varve/iterator_base.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/wide_columns.h"

namespace varve {

class ColumnFamilyHandle;

// Columns to be written to one column family. The handle and the bytes are borrowed.
class AttributeGroup {
 public:
  // Copies the list of columns, but not the bytes of their names and values.
  explicit AttributeGroup(ColumnFamilyHandle* column_family, const WideColumns& columns)
      : column_family_(column_family), columns_(columns) {}

  // Returns the family that the columns are written to.
  ColumnFamilyHandle* column_family() const { return column_family_; }
  // Return the columns. Their order does not matter; no two may have one name.
  const WideColumns& columns() const { return columns_; }
  WideColumns& columns() { return columns_; }

 private:
  ColumnFamilyHandle* column_family_;
  WideColumns columns_;
};

// Groups are equal if they have the same handle, and equal columns in the same order.
inline bool operator==(const AttributeGroup& a, const AttributeGroup& b) {
  return a.column_family() == b.column_family() && a.columns() == b.columns();
}
inline bool operator!=(const AttributeGroup& a, const AttributeGroup& b) {
  return !(a == b);
}

// The groups of one key.
using AttributeGroups = std::vector<AttributeGroup>;

// No groups.
inline const AttributeGroups kNoAttributeGroups;

// Columns that were read from one column family, with the status of that read. Movable only.
class PinnableAttributeGroup {
 public:
  // The handle is borrowed.
  explicit PinnableAttributeGroup(ColumnFamilyHandle* column_family)
      : column_family_(column_family) {}

  // Returns the family that is read.
  ColumnFamilyHandle* column_family() const { return column_family_; }
  // Returns OK, NotFound if the family does not have the key, or the error of the read.
  const Status& status() const { return status_; }
  // Returns the columns, none unless the status is OK.
  const WideColumns& columns() const { return columns_.columns(); }

  // Replace the status and the columns, as calls of the database do.
  void SetStatus(const Status& status) { status_ = status; }
  void SetColumns(PinnableWideColumns&& columns) { columns_ = std::move(columns); }
  // Releases the columns; the status is OK afterwards.
  void Reset() {
    status_ = Status::OK();
    columns_.Reset();
  }

 private:
  ColumnFamilyHandle* column_family_;
  Status status_;
  PinnableWideColumns columns_;
};

// Groups are equal if they have the same handle, equal codes of status, and equal columns.
inline bool operator==(const PinnableAttributeGroup& a, const PinnableAttributeGroup& b) {
  return a.column_family() == b.column_family() && a.status() == b.status() &&
         a.columns() == b.columns();
}
inline bool operator!=(const PinnableAttributeGroup& a, const PinnableAttributeGroup& b) {
  return !(a == b);
}

// The groups that one key was asked for.
using PinnableAttributeGroups = std::vector<PinnableAttributeGroup>;

// The columns that an iterator shows of one column family. Borrowed from the iterator.
class IteratorAttributeGroup {
 public:
  // Both must outlive the object; the columns must not be null.
  explicit IteratorAttributeGroup(ColumnFamilyHandle* column_family, const WideColumns* columns)
      : column_family_(column_family), columns_(columns) {}

  // Returns the family that has these columns.
  ColumnFamilyHandle* column_family() const { return column_family_; }
  // Returns the columns by ascending name; a plain value is the default column alone.
  const WideColumns& columns() const { return *columns_; }

 private:
  ColumnFamilyHandle* column_family_;
  const WideColumns* columns_;
};

// Groups are equal if they have the same handle and equal columns.
inline bool operator==(const IteratorAttributeGroup& a, const IteratorAttributeGroup& b) {
  return a.column_family() == b.column_family() && a.columns() == b.columns();
}
inline bool operator!=(const IteratorAttributeGroup& a, const IteratorAttributeGroup& b) {
  return !(a == b);
}

// The groups of the key that an iterator shows.
using IteratorAttributeGroups = std::vector<IteratorAttributeGroup>;

// No groups.
inline const IteratorAttributeGroups kNoIteratorAttributeGroups;

// Walks the keys of several column families in one order, and shows the columns of each family that
// has the key. Made by DB::NewAttributeGroupIterator.
class AttributeGroupIterator : public IteratorBase {
 public:
  // Returns the groups in the order in which the families were given, valid until the iterator
  // moves. Requires Valid().
  virtual const IteratorAttributeGroups& attribute_groups() const = 0;
};

}  // namespace varve
