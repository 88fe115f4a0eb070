// SPDX-License-Identifier: Apache-2.0

// Implements the operator that appends with a delimiter between the parts, and the text form of the
// delimiter.

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "varve/utilities/merge_operators.h"

#include "util/merge/operator_forms.h"
#include "util/options/option_text.h"

namespace varve {

namespace {

// True if option text can hold the delimiter. Blanks at its ends would be trimmed, and braces taken
// for structure. Line breaks have escapes, other control characters have none.
bool TextCanCarry(const std::string& delimiter) {
  if (delimiter.starts_with(' ') || delimiter.ends_with(' ')) return false;
  for (const char c : delimiter) {
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r';
    if (control || c == '{' || c == '}') return false;
  }
  return true;
}

// A semicolon would end the option, and needs braces; what text cannot carry at all is written as
// hexadecimal digits.
std::string DelimiterText(const std::string& delimiter) {
  if (!TextCanCarry(delimiter)) return "delimiter_hex=" + Slice(delimiter).ToString(/*hex=*/true);
  const std::string escaped = EscapeOptionText(delimiter);
  const bool ends_options = escaped.find(';') != std::string::npos;
  return "delimiter=" + (ends_options ? "{" + escaped + "}" : escaped);
}

class StringAppendOperator : public FoldingOperator<StringAppendOperator> {
 public:
  explicit StringAppendOperator(std::string delimiter) : delimiter_(std::move(delimiter)) {}

  const char* Name() const override { return "StringAppendOperator"; }
  const char* NickName() const override { return "stringappend"; }
  std::string GetId() const override {
    return std::string("{id=") + Name() + ";" + DelimiterText(delimiter_) + ";}";
  }

  // A single operand without a base is the result as it is, without a copy.
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const final {
    if (in.existing_value == nullptr && in.operand_list.size() == 1) {
      out->existing_operand = in.operand_list.front();
      return true;
    }
    return FoldingOperator::FullMergeV2(in, out);
  }

  template <typename Slices>
  bool Fold(const Slice* base, const Slices& operands, std::string* merged,
            Logger* /*logger*/) const {
    size_t size = base == nullptr ? 0 : base->size() + delimiter_.size();
    for (const Slice& operand : operands) size += operand.size() + delimiter_.size();
    merged->reserve(size - delimiter_.size());
    if (base != nullptr) merged->append(base->data(), base->size());
    bool first = base == nullptr;
    for (const Slice& operand : operands) {
      if (!std::exchange(first, false)) merged->append(delimiter_);
      merged->append(operand.data(), operand.size());
    }
    return true;
  }

 private:
  const std::string delimiter_;
};

// Never merges partially, so that tests see all operands arrive in one full merge. Appending is the
// same.
class StringAppendTestOperator final : public StringAppendOperator {
 public:
  using StringAppendOperator::StringAppendOperator;

  const char* Name() const override { return "StringAppendTESTOperator"; }
  const char* NickName() const override { return "stringappendtest"; }
  bool PartialMerge(const Slice& /*key*/, const Slice& /*left*/, const Slice& /*right*/,
                    std::string* /*new_value*/, Logger* /*logger*/) const override {
    return false;
  }
  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& /*operands*/,
                         std::string* /*new_value*/, Logger* /*logger*/) const override {
    return false;
  }
};

}  // namespace

std::shared_ptr<MergeOperator> MergeOperators::CreateStringAppendOperator() {
  return CreateStringAppendOperator(',');
}

std::shared_ptr<MergeOperator> MergeOperators::CreateStringAppendOperator(char delimiter) {
  return CreateStringAppendOperator(std::string(1, delimiter));
}

std::shared_ptr<MergeOperator> MergeOperators::CreateStringAppendOperator(
    const std::string& delimiter) {
  return std::make_shared<StringAppendOperator>(delimiter);
}

std::shared_ptr<MergeOperator> MergeOperators::CreateStringAppendTESTOperator() {
  return CreateStringAppendTESTOperator(",");
}

std::shared_ptr<MergeOperator> MergeOperators::CreateStringAppendTESTOperator(
    const std::string& delimiter) {
  return std::make_shared<StringAppendTestOperator>(delimiter);
}

}  // namespace varve
