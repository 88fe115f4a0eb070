// SPDX-License-Identifier: Apache-2.0
#pragma once

// The built-in merge operators. Their names and results are RocksDB's, so either library can
// continue merging the data of the other. MergeOperator::CreateFromString() makes them by name.

#include <memory>
#include <string>

#include "varve/export.h"
#include "varve/merge_operator.h"

namespace varve {

// Each function returns a new operator, which is stateless and thread-safe. None returns null.
class VARVE_EXPORT MergeOperators {
 public:
  // "PutOperator", also called "put" or "put_v1": the newest operand becomes the value.
  static std::shared_ptr<MergeOperator> CreatePutOperator();
  // Like the call above; in RocksDB this variant copies the operand.
  static std::shared_ptr<MergeOperator> CreateDeprecatedPutOperator();

  // "UInt64AddOperator", "uint64add": adds 8-byte little-endian numbers modulo 2^64. Values that
  // are not 8 bytes long count as 0 and are logged to the info log, because existing databases
  // contain them.
  static std::shared_ptr<MergeOperator> CreateUInt64AddOperator();

  // "Int64AddOperator", "int64add", which RocksDB lacks: adds 8-byte little-endian numbers in two's
  // complement. A value that is not 8 bytes long fails the merge. Overflow wraps around, because a
  // sum that stopped at the limit would depend on the order in which operands are combined.
  static std::shared_ptr<MergeOperator> CreateInt64AddOperator();

  // "StringAppendOperator", "stringappend": concatenates base and operands in order, separated by
  // the delimiter. An empty base is an element, a missing one is not. The text form has the option
  // "delimiter" or, for bytes that text cannot represent, "delimiter_hex".
  static std::shared_ptr<MergeOperator> CreateStringAppendOperator();  // The delimiter is ",".
  static std::shared_ptr<MergeOperator> CreateStringAppendOperator(char delimiter);
  static std::shared_ptr<MergeOperator> CreateStringAppendOperator(const std::string& delimiter);

  // "StringAppendTESTOperator", "stringappendtest": makes the same value, but operands are not
  // combined until their base is known.
  static std::shared_ptr<MergeOperator> CreateStringAppendTESTOperator();  // The delimiter is ",".
  static std::shared_ptr<MergeOperator> CreateStringAppendTESTOperator(
      const std::string& delimiter);

  // "MaxOperator", "max": selects the bytewise largest of base and operands without copying; of
  // equal ones the oldest.
  static std::shared_ptr<MergeOperator> CreateMaxOperator();

  // "BytesXOR", "bytesxor": computes the bytewise exclusive or; shorter values are padded with
  // zeros.
  static std::shared_ptr<MergeOperator> CreateBytesXOROperator();

  // "MergeSortOperator", "sortlist": merges lists of decimal 64-bit integers such as "1,3,8" into
  // one ascending list. Any other text fails the merge. The base is part of the result; RocksDB
  // ignores it.
  static std::shared_ptr<MergeOperator> CreateSortOperator();
};

}  // namespace varve
