// SPDX-License-Identifier: Apache-2.0

// Fuzzes the built-in merge operators over any operands: they fail or give a value, and combining
// some of the operands beforehand gives the same value.

#include <deque>

#include "varve/convenience.h"
#include "varve/merge_operator.h"

#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

const char* const kNames[] = {"put", "uint64add", "int64add", "stringappend",
                              "max", "bytesxor",  "sortlist", "stringappendtest"};

const MergeOperator& Operator(uint32_t n) {
  static const std::vector<std::shared_ptr<MergeOperator>> operators = [] {
    std::vector<std::shared_ptr<MergeOperator>> made(std::size(kNames));
    for (size_t i = 0; i < made.size(); i++) {
      Promise(MergeOperator::CreateFromString(ConfigOptions(), kNames[i], &made[i]).ok(),
              "built-in operators can be made");
    }
    return made;
  }();
  return *operators[n];
}

// A seed has the operator, a flag for a base, the number of operands to combine beforehand, and
// then the texts.
void MakeSeeds(Seeds* seeds) {
  for (size_t n = 0; n < std::size(kNames); n++) {
    for (const char base : {0, 1}) {
      const std::string head{static_cast<char>(n), base, 2};
      seeds->push_back(head + ShortText("1,5,9") + ShortText("-3,4") + ShortText("7") +
                       ShortText(" +8"));
      seeds->push_back(head + ShortText("12345678") + ShortText(std::string(8, '\xff')) +
                       ShortText(std::string(8, '\1')) + ShortText(""));
    }
  }
}

bool Merge(const MergeOperator& merger, const Slice* base, const std::vector<Slice>& operands,
           std::string* result) {
  Slice existing(nullptr, 0);
  MergeOperator::MergeOperationOutput out(*result, existing);
  const MergeOperator::MergeOperationInput in("key", base, operands, nullptr);
  if (!merger.FullMergeV2(in, &out)) return false;
  if (existing.data() == nullptr) return true;
  bool ours = base != nullptr && existing.data() == base->data();
  for (const Slice& operand : operands) ours |= existing.data() == operand.data();
  Promise(ours, "an existing operand is one of those given");
  *result = existing.ToString();
  return true;
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const varve::MergeOperator& merger = fuzz::Operator(input.Below(std::size(fuzz::kNames)));
  const bool has_base = input.Below(2) == 1;
  const uint32_t combined = input.Below(5);
  const varve::Slice base = has_base ? input.Short() : varve::Slice();
  std::vector<varve::Slice> operands;
  while (!input.empty()) operands.push_back(input.Short());
  if (operands.empty()) return 0;
  std::string whole;
  const bool merged = fuzz::Merge(merger, has_base ? &base : nullptr, operands, &whole);
  fuzz::Note(merged ? 1 : 2);
  if (combined < 2 || combined > operands.size()) return 0;
  std::string first;
  if (!merger.PartialMergeMulti("key", {operands.begin(), operands.begin() + combined}, &first,
                                nullptr)) {
    return 0;
  }
  fuzz::Note(3);
  operands.erase(operands.begin(), operands.begin() + combined - 1);
  operands.front() = first;
  std::string in_parts;
  const bool same = fuzz::Merge(merger, has_base ? &base : nullptr, operands, &in_parts);
  fuzz::Promise(same == merged && (!merged || in_parts == whole),
                "combining operands beforehand gives the same value");
  return 0;
}

static const varve::fuzz::Register registered({"merge_operands", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 80});
