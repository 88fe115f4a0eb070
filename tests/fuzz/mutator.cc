// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cstring>

#include "util/coding/fixed.h"
#include "util/coding/varint.h"

namespace varve::fuzz {

namespace {

constexpr uint64_t kEdges[] = {0,           1,         2,          7,          0x7f,
                               0x80,        0xff,      0x100,      0x7fff,     0x8000,
                               0xffff,      0x10000,   0x7fffffff, 0x80000000, 0xffffffff,
                               0x100000000, INT64_MAX, 1ull << 63, UINT64_MAX, UINT64_MAX - 7};

}  // namespace

size_t Mutator::Length(const std::string& input, size_t at) {
  return std::min<size_t>(1 + random_.Skewed(8), input.size() - at);
}

void Mutator::OverwriteNumber(std::string* input) {
  char bytes[8];
  EncodeFixed64(bytes, kEdges[random_.Below(std::size(kEdges))]);
  if (random_.OneIn(4)) EncodeFixed64(bytes, input->size() - random_.Below(9));
  const size_t at = Place(*input);
  const size_t n = std::min(size_t{1} << random_.Below(4), input->size() - at);
  std::memcpy(input->data() + at, bytes, n);
}

void Mutator::OverwriteVarint(std::string* input) {
  std::string bytes;
  if (random_.OneIn(3)) {
    bytes.assign(1 + random_.Below(11), '\xff');
  } else {
    PutVarint64(&bytes, kEdges[random_.Below(std::size(kEdges))]);
  }
  const size_t at = Place(*input);
  input->replace(at, random_.OneIn(2) ? 1 : std::min(bytes.size(), input->size() - at), bytes);
}

void Mutator::AdjustNumber(std::string* input) {
  char& byte = (*input)[Place(*input)];
  byte = static_cast<char>(byte + static_cast<int>(random_.Below(17)) - 8);
}

void Mutator::Insert(std::string* input) {
  std::string bytes(1 + random_.Skewed(5), static_cast<char>(random_.Next()));
  if (random_.OneIn(2)) {
    for (char& byte : bytes) byte = static_cast<char>(random_.Next());
  }
  input->insert(Place(*input), bytes);
}

void Mutator::Erase(std::string* input) {
  const size_t at = Place(*input);
  input->erase(at, Length(*input, at));
}

void Mutator::CopyWithin(std::string* input) {
  const size_t from = Place(*input);
  const std::string piece = input->substr(from, Length(*input, from));
  const size_t to = Place(*input);
  if (random_.OneIn(2)) {
    input->insert(to, piece);
  } else {
    input->replace(to, std::min(piece.size(), input->size() - to), piece);
  }
}

void Mutator::Splice(std::string* input, const std::string& other) {
  if (other.empty()) return;
  const size_t from = Place(other);
  if (random_.OneIn(3)) {
    // Joins the first half of one input and the second half of the other.
    input->resize(Place(*input));
    input->append(other, from);
    return;
  }
  const std::string piece = other.substr(from, Length(other, from));
  input->insert(Place(*input), piece);
}

void Mutator::ChangeOnce(std::string* input, const std::string& other) {
  if (input->empty()) {
    input->assign(1 + random_.Below(16), static_cast<char>(random_.Next()));
    return;
  }
  switch (random_.Below(12)) {
    case 0:
    case 1:
    case 2:
      (*input)[Place(*input)] ^= static_cast<char>(1 << random_.Below(8));
      break;
    case 3:
      (*input)[Place(*input)] = static_cast<char>(random_.Next());
      break;
    case 4:
      return OverwriteNumber(input);
    case 5:
      return OverwriteVarint(input);
    case 6:
      return AdjustNumber(input);
    case 7:
      return Insert(input);
    case 8:
      return Erase(input);
    case 9:
      return CopyWithin(input);
    case 10:
      return Splice(input, other);
    default:
      if (random_.OneIn(4)) input->resize(Place(*input));
      break;
  }
}

std::string Mutator::Mutate(std::string input, const std::string& other, size_t most) {
  const uint64_t changes = 1 + random_.Skewed(3);
  for (uint64_t i = 0; i < changes; i++) ChangeOnce(&input, other);
  if (input.size() > most) input.resize(most);
  return input;
}

}  // namespace varve::fuzz
