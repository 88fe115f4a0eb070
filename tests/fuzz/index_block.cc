// SPDX-License-Identifier: Apache-2.0

// Fuzzes index blocks in every form: any bytes are refused or give handles inside the file, and the
// prepared search finds what a plain one finds.

#include <memory>

#include "table/index/decoded_index.h"
#include "table/index/index_block_builder.h"
#include "tests/fuzz/target.h"
#include "util/key/internal_key.h"

namespace varve::fuzz {
namespace {

constexpr uint64_t kLimit = 1 << 20;

const InternalKeyComparator& Order(bool reverse) {
  static const InternalKeyComparator up(BytewiseComparator());
  static const InternalKeyComparator down(ReverseBytewiseComparator());
  return reverse ? down : up;
}

// The first byte of an input has the form and the order.
std::string Seed(const IndexForm& form, bool reverse, int entries) {
  const int bits = (form.user_keys ? 1 : 0) | (form.delta_values ? 2 : 0) |
                   (form.first_keys ? 4 : 0) | (reverse ? 8 : 0);
  IndexBlockBuilder block(entries % 2 == 0 ? 1 : 4, form.delta_values);
  for (int i = 0; i < entries; i++) {
    const std::string text = "separator" + std::to_string(100 + (reverse ? entries - i : i));
    std::string key = text;
    if (!form.user_keys) {
      key.clear();
      AppendInternalKey(&key, text, 7, kTypeValue);
    }
    std::string first;
    AppendInternalKey(&first, text, 9, kTypeValue);
    const Slice first_key(first);
    block.Add(key, BlockHandle{static_cast<uint64_t>(i) * 105, 100},
              form.first_keys ? &first_key : nullptr);
  }
  return std::string(1, static_cast<char>(bits)) + block.Finish().ToString();
}

void MakeSeeds(Seeds* seeds) {
  for (int bits = 0; bits < 16; bits++) {
    const IndexForm form{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    seeds->push_back(Seed(form, (bits & 8) != 0, 3 + bits));
  }
}

bool Ascending(const DecodedIndex& index, const InternalKeyComparator& order) {
  for (size_t i = 1; i < index.size(); i++) {
    const int c = index.form().user_keys
                      ? order.CompareUserKey(index.separator(i - 1), index.separator(i))
                      : order.Compare(index.separator(i - 1), index.separator(i));
    if (c >= 0) return false;
  }
  return true;
}

size_t PlainSeek(const DecodedIndex& index, const InternalKeyComparator& order,
                 const Slice& target) {
  for (size_t i = 0; i < index.size(); i++) {
    const int c = index.form().user_keys
                      ? order.CompareUserKey(index.separator(i), ExtractUserKey(target))
                      : order.Compare(index.separator(i), target);
    if (c >= 0) return i;
  }
  return index.size();
}

void Search(const DecodedIndex& index, const InternalKeyComparator& order, const Slice& user_key,
            bool ascending) {
  for (const SequenceNumber seq : {SequenceNumber{0}, SequenceNumber{7}, kMaxSequenceNumber}) {
    std::string target;
    AppendInternalKey(&target, user_key, seq, kTypeValue);
    const size_t place = index.Seek(order, target);
    Promise(place <= index.size(), "a search ends in the index");
    const Slice one(target);
    size_t same = 0;
    index.Seek(order, std::span<const Slice>(&one, 1), &same);
    Promise(same == place, "searching several at once finds the same");
    if (ascending) {
      Promise(place == PlainSeek(index, order, target), "as a plain search does");
    }
  }
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const uint32_t bits = input.Byte();
  const varve::IndexForm form{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
  const varve::InternalKeyComparator& order = fuzz::Order((bits & 8) != 0);
  const varve::Slice block = input.Rest();
  std::unique_ptr<varve::DecodedIndex> index;
  const varve::Status s =
      varve::DecodedIndex::Decode(block, form, order, fuzz::kLimit, "fuzz", &index);
  fuzz::Note(s);
  if (!s.ok()) return 0;
  fuzz::Note(index->size());
  const bool ascending = fuzz::Ascending(*index, order);
  for (size_t i = 0; i < index->size(); i++) {
    fuzz::Promise(index->handle(i).FitsIn(fuzz::kLimit), "handles lie in the file");
    if (i % (1 + index->size() / 8) == 0) {
      fuzz::Search(*index, order, index->separator_user_key(i), ascending);
    }
  }
  fuzz::Search(*index, order, "separator105", ascending);
  fuzz::Search(*index, order, "", ascending);
  return 0;
}

static const varve::fuzz::Register registered({"index_block", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 100});
