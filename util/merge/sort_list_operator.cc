// SPDX-License-Identifier: Apache-2.0

// Implements the operator that merges sorted lists of numbers, which are stored as text.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "varve/utilities/merge_operators.h"

#include "util/merge/operator_forms.h"

namespace varve {

namespace {

// Parses one number, perhaps after blanks or a plus; returns true if it ends at `end`.
bool ParseNumber(const char* begin, const char* end, int64_t* number) {
  while (begin < end && *begin == ' ') ++begin;
  // "+-1" is not a number.
  if (begin + 1 < end && *begin == '+' && begin[1] != '-') ++begin;
  const auto parsed = std::from_chars(begin, end, *number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

// Appends the numbers of a list such as "1,3,8" to *numbers. An empty text is an empty list.
bool AppendNumbers(const Slice& list, std::vector<int64_t>* numbers) {
  if (list.empty()) return true;
  const char* const end = list.data() + list.size();
  const char* begin = list.data();
  for (;;) {
    const char* const comma = std::find(begin, end, ',');
    int64_t number = 0;
    if (!ParseNumber(begin, comma, &number)) return false;
    numbers->push_back(number);
    if (comma == end) return true;
    begin = comma + 1;
  }
}

// Sorts everything anew: if lists were written unsorted, the result must not depend on which of
// them are combined first.
class SortListOperator final : public FoldingOperator<SortListOperator> {
 public:
  const char* Name() const override { return "MergeSortOperator"; }
  const char* NickName() const override { return "sortlist"; }

  template <typename Slices>
  bool Fold(const Slice* base, const Slices& operands, std::string* merged,
            Logger* /*logger*/) const {
    std::vector<int64_t> numbers;
    if (base != nullptr && !AppendNumbers(*base, &numbers)) return false;
    for (const Slice& operand : operands) {
      if (!AppendNumbers(operand, &numbers)) return false;
    }
    std::sort(numbers.begin(), numbers.end());
    for (const int64_t number : numbers) {
      if (!merged->empty()) merged->push_back(',');
      merged->append(std::to_string(number));
    }
    return true;
  }
};

}  // namespace

std::shared_ptr<MergeOperator> MergeOperators::CreateSortOperator() {
  return std::make_shared<SortListOperator>();
}

}  // namespace varve
