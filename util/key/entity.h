// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes and decodes the value of an entry of type kTypeWideColumnEntity: the columns of an
// entity.
//
// The bytes are: varint32 1, the version; varint32 n; for each of n columns its name, with a
// varint32 length before it, and the varint32 length of its value; then the values, one after the
// other, up to the end. Names ascend bytewise, so an empty one, that of the default column, is the
// first.
//
// The entity {"": "v", "name": "bo"} has 13 bytes:
//
//      01 02 | 00    01 | 04 n a m e  02 | v | b o
//       | |    |     |    |           |    |   '- value of "name"
//       | n    |     |    name        |    '- value of the default column
//       |      |     length of its    length of its value
//       |      |     value
//       |      empty name
//       version
//
// All names come before all values, so that one column is found in a pass over the names, which are
// short, without touching the other values.
//
// Decoders check everything, whatever is asked for: an ill-formed entity is Corruption that names
// the byte and what is wrong there, and one of a newer version NotSupported. Both leave the results
// unspecified. Decoded slices point into the entity.
//
// Invariants of a well-formed entity
// 1. Names ascend strictly, so no two columns have one name.
// 2. The sizes of the values add up to exactly the bytes after the index.
// 3. Name, value and the whole entity each fit into a write, that is, below 4 GiB with what a batch
//    adds.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/wide_columns.h"

namespace varve {

// Says what the bytes of a value are.
enum class ValueForm : uint8_t {
  kPlain,
  kEntity,  // an entity in its stored form
};

// Appends the entity of these columns, in any order, to *entity. Returns Corruption if two columns
// have one name, and InvalidArgument if a write cannot hold the entity; then *entity is unchanged.
Status EncodeEntity(const WideColumns& columns, std::string* entity);

// Sets *columns to the entity's columns, by ascending name.
Status DecodeEntity(const Slice& entity, WideColumns* columns);

// Looks for one column in a single pass, without an allocation. If there is none of that name,
// *found is false, and *value is empty.
Status FindColumn(const Slice& entity, const Slice& name, Slice* value, bool* found);

// Sets *value to what plain reads see of the entity: the default column, or an empty slice.
Status DefaultColumnOf(const Slice& entity, Slice* value);

// Returns OK if the entity can be decoded.
Status CheckEntity(const Slice& entity);

}  // namespace varve
