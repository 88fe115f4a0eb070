// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/family_kinds.h"

#include <algorithm>

#include "varve/comparator.h"
#include "varve/table.h"
#include "varve/utilities/merge_operators.h"

#include "util/coding/fixed.h"

namespace varve::testing {

bool HasSums(const std::string& family) {
  return family == "sums";
}

bool HasTexts(const std::string& family) {
  return family == "texts" || HasVersions(family);
}

bool HasVersions(const std::string& family) {
  return family == "versions" || IsBare(family);
}

bool IsBare(const std::string& family) {
  return family == "bare";
}

bool HasPlainTables(const std::string& family) {
  return family == "rows";
}

bool HasColumns(const std::string& family) {
  return family == "columns";
}

void TuneFamily(const std::string& family, ColumnFamilyOptions* options) {
  if (HasSums(family)) options->merge_operator = MergeOperators::CreateUInt64AddOperator();
  if (HasTexts(family)) options->merge_operator = MergeOperators::CreateStringAppendOperator();
  if (HasVersions(family)) options->comparator = BytewiseComparatorWithU64Ts();
  if (IsBare(family)) options->persist_user_defined_timestamps = false;
  if (HasPlainTables(family)) {
    options->table_factory.reset(NewPlainTableFactory());
    options->compression = kNoCompression;
  }
}

bool Allows(const DBOptions& options, const std::vector<std::string>& families) {
  return std::ranges::none_of(families, IsBare) ||
         (!options.allow_concurrent_memtable_write && !options.atomic_flush);
}

std::string Stamp(uint64_t number) {
  std::string bytes(sizeof(number), '\0');
  EncodeFixed64(bytes.data(), number);
  return bytes;
}

uint64_t NumberOfTimestamp(const std::string& bytes) {
  return bytes.size() == sizeof(uint64_t) ? DecodeFixed64(bytes.data()) : 0;
}

std::string Merged(const std::string& family, const std::string* value,
                   const std::string& operand) {
  if (!HasSums(family)) return value == nullptr ? operand : *value + "," + operand;
  return Stamp((value == nullptr ? 0 : NumberOfTimestamp(*value)) + NumberOfTimestamp(operand));
}

Status MarkOf(DB* db, ColumnFamilyHandle* handle, uint64_t* mark) {
  std::string bytes;
  const Status s = db->GetFullHistoryTsLow(handle, &bytes);
  *mark = NumberOfTimestamp(bytes);
  return s;
}

}  // namespace varve::testing
