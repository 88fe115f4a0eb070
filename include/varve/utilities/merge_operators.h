// SPDX-License-Identifier: Apache-2.0
#pragma once

// The built-in merge operators. Their names and results are RocksDB's, so that either library goes
// on with what the other has merged. By name: MergeOperator::CreateFromString().

#include <memory>
#include <string>

#include "varve/export.h"
#include "varve/merge_operator.h"

namespace varve {

// Each function makes a new operator, stateless and thread-safe. None returns null.
class VARVE_EXPORT MergeOperators {
 public:
  // "PutOperator", in short "put" or "put_v1": the newest operand is the value.
  static std::shared_ptr<MergeOperator> CreatePutOperator();
  // The same; in RocksDB it copies the operand.
  static std::shared_ptr<MergeOperator> CreateDeprecatedPutOperator();

  // "UInt64AddOperator", "uint64add": sums of 8-byte little-endian numbers, modulo 2^64. What is
  // not 8 bytes long counts as 0, with an entry in the info log: existing databases contain such
  // values.
  static std::shared_ptr<MergeOperator> CreateUInt64AddOperator();

  // "Int64AddOperator", "int64add", which RocksDB lacks: sums of 8-byte little-endian numbers in
  // two's complement. What is not 8 bytes long fails the merge. Overflow wraps around: a sum that
  // stopped at the limit would depend on the order in which operands are combined.
  static std::shared_ptr<MergeOperator> CreateInt64AddOperator();

  // "StringAppendOperator", "stringappend": base and operands in order, with the delimiter between
  // any two. An empty base counts, no base does not. Option of the text form: "delimiter" or, for
  // bytes that text cannot carry, "delimiter_hex".
  static std::shared_ptr<MergeOperator> CreateStringAppendOperator();  // ","
  static std::shared_ptr<MergeOperator> CreateStringAppendOperator(char delimiter);
  static std::shared_ptr<MergeOperator> CreateStringAppendOperator(const std::string& delimiter);

  // "StringAppendTESTOperator", "stringappendtest": the same value, but operands stay apart until
  // their base is known.
  static std::shared_ptr<MergeOperator> CreateStringAppendTESTOperator();  // ","
  static std::shared_ptr<MergeOperator> CreateStringAppendTESTOperator(
      const std::string& delimiter);

  // "MaxOperator", "max": the bytewise largest of base and operands, without a copy; of equal ones
  // the oldest.
  static std::shared_ptr<MergeOperator> CreateMaxOperator();

  // "BytesXOR", "bytesxor": bytewise exclusive or; shorter values count as filled up with zeros.
  static std::shared_ptr<MergeOperator> CreateBytesXOROperator();

  // "MergeSortOperator", "sortlist": lists of decimal 64-bit integers, "1,3,8", into one ascending
  // list. Anything else fails the merge. The base belongs to the result, which RocksDB ignores.
  static std::shared_ptr<MergeOperator> CreateSortOperator();
};

}  // namespace varve
