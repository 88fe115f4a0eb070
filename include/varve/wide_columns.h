// SPDX-License-Identifier: Apache-2.0
#pragma once

// WideColumn, WideColumns and PinnableWideColumns: the columns of an entity, which is a value that
// consists of named parts.
//
// DB::PutEntity writes an entity, DB::GetEntity reads one. Each name occurs once; names are ordered
// by their bytes. A plain value, as DB::Put writes it, counts as an entity with one column, the
// default column, whose name is empty; and a plain read (DB::Get, Iterator::value) of an entity
// returns its default column, or an empty value if it has none.
//
//   varve::Status s = db->PutEntity(varve::WriteOptions(), family, "user17",
//                                   varve::WideColumns{{"age", "36"}, {"name", "Ada"}});
//   varve::PinnableWideColumns entity;
//   s = db->GetEntity(varve::ReadOptions(), family, "user17", &entity);
//   for (const varve::WideColumn& column : entity.columns()) {
//     std::cout << column << '\n';  // "age:36", then "name:Ada"
//   }
//
// RocksDB reads and writes the same bytes.

#include <cstddef>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

// One column: a name and a value. Both are borrowed: their owner keeps the bytes alive.
class WideColumn {
 public:
  // Makes a column with an empty name and an empty value.
  WideColumn() = default;
  // Makes both slices from anything that a Slice can be made from.
  template <typename N, typename V>
  WideColumn(N&& name, V&& value) : name_(std::forward<N>(name)), value_(std::forward<V>(value)) {}
  // Makes each slice from a tuple with the arguments of its constructor.
  template <typename NTuple, typename VTuple>
  WideColumn(std::piecewise_construct_t /*unused*/, NTuple&& name, VTuple&& value)
      : name_(std::make_from_tuple<Slice>(std::forward<NTuple>(name))),
        value_(std::make_from_tuple<Slice>(std::forward<VTuple>(value))) {}

  // Return the name, which is empty for the default column, and the value; any bytes may occur in
  // both.
  const Slice& name() const { return name_; }
  const Slice& value() const { return value_; }
  Slice& name() { return name_; }
  Slice& value() { return value_; }

 private:
  Slice name_;
  Slice value_;
};

// True if the names and the values are equal.
inline bool operator==(const WideColumn& a, const WideColumn& b) {
  return a.name() == b.name() && a.value() == b.value();
}
inline bool operator!=(const WideColumn& a, const WideColumn& b) {
  return !(a == b);
}

// Prints "name:value", in hex if the stream's base is hexadecimal.
inline std::ostream& operator<<(std::ostream& out, const WideColumn& column) {
  const bool hex = (out.flags() & std::ios_base::basefield) == std::ios_base::hex;
  if (!column.name().empty()) out << column.name().ToString(hex);
  return out << ':' << column.value().ToString(hex);
}

// The columns of an entity. Those that reads return ascend by name.
using WideColumns = std::vector<WideColumn>;

// The empty name, which is that of the default column.
inline constexpr Slice kDefaultWideColumnName;

// An entity without columns.
inline const WideColumns kNoWideColumns;

// The result of DB::GetEntity: columns, and the memory that they point to. If pinned, that is the
// engine's memory, which Reset(), reuse or destruction releases; all must happen before the DB is
// closed. Movable only. One thread at a time may use it, but for calls of const methods.
class VARVE_EXPORT PinnableWideColumns {
 public:
  // Makes an object without columns.
  PinnableWideColumns() = default;
  PinnableWideColumns(const PinnableWideColumns&) = delete;
  PinnableWideColumns& operator=(const PinnableWideColumns&) = delete;
  // Leave the source without columns.
  PinnableWideColumns(PinnableWideColumns&& other) noexcept;
  PinnableWideColumns& operator=(PinnableWideColumns&& other) noexcept;

  // Returns the columns by ascending name; of a plain value, the default column alone. They are
  // valid until the object changes.
  const WideColumns& columns() const { return columns_; }
  // Returns the bytes of the value in its stored form.
  size_t serialized_size() const { return value_.size(); }

  // Make a plain value the only column: by copying it, by pointing at it and taking over the
  // cleanups, which may be null, or by taking it over.
  void SetPlainValue(const Slice& value);
  void SetPlainValue(const Slice& value, Cleanable* cleanable);
  void SetPlainValue(PinnableSlice&& value);
  void SetPlainValue(std::string&& value);

  // Do the same with an entity in its stored form. They return Corruption if it is ill-formed, and
  // NotSupported if it is of a newer form; then there are no columns.
  Status SetWideColumnValue(const Slice& value);
  Status SetWideColumnValue(const Slice& value, Cleanable* cleanable);
  Status SetWideColumnValue(PinnableSlice&& value);
  Status SetWideColumnValue(std::string&& value);

  // Releases the memory; no columns are left.
  void Reset();

 private:
  void ShowPlain();
  Status ShowEntity();
  // Points the columns, which point into bytes at `was`, at the same places of the present value.
  void Rebase(const char* was);

  PinnableSlice value_;
  WideColumns columns_;
};

// Compares the columns; where their memory is does not matter.
inline bool operator==(const PinnableWideColumns& a, const PinnableWideColumns& b) {
  return a.columns() == b.columns();
}
inline bool operator!=(const PinnableWideColumns& a, const PinnableWideColumns& b) {
  return !(a == b);
}

}  // namespace varve
