// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cctype>

#include "util/coding/hash.h"

namespace varve::fuzz {

namespace {

// Messages quote the input at their end, so only this many letters of them count.
constexpr size_t kFeatureLetters = 40;

}  // namespace

std::vector<Target>& Targets() {
  static std::vector<Target> targets;
  return targets;
}

std::vector<uint64_t>& Noted() {
  static std::vector<uint64_t> noted;
  return noted;
}

uint64_t& AcceptedCount() {
  static uint64_t count = 0;
  return count;
}

void Note(uint64_t feature) {
  if (Noted().size() < 64) Noted().push_back(feature);
}

void Note(const Status& status) {
  if (status.ok()) AcceptedCount()++;
  std::string text = status.ToString();
  std::erase_if(text, [](unsigned char c) { return std::isalpha(c) == 0; });
  text.resize(std::min(text.size(), kFeatureLetters));
  Note(KeyHash64(Slice(text).data(), text.size()));
}

std::string ShortText(std::string_view text) {
  text = text.substr(0, 255);
  return std::string(1, static_cast<char>(text.size())) + std::string(text);
}

std::string LongText(std::string_view text) {
  text = text.substr(0, 65535);
  std::string out;
  out.push_back(static_cast<char>(text.size()));
  out.push_back(static_cast<char>(text.size() >> 8));
  return out.append(text);
}

}  // namespace varve::fuzz
