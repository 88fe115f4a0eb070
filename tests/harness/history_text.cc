// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/history_text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

namespace varve::testing {

namespace {

const char* const kHex = "0123456789ABCDEF";
const char* const kBetweenParts = ";";

bool IsPlain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ||
         c == ':' || c == '=' || c == '!';
}

}  // namespace

uint64_t NumberOf(const std::string& word) {
  return std::strtoull(word.c_str(), nullptr, 10);
}

const std::string& Line::Word(size_t i) const {
  static const std::string none;
  return i < words.size() ? words[i] : none;
}

std::string Line::Db() const {
  return Word(1).substr(0, Word(1).find_first_of("/@"));
}

std::string Line::Family() const {
  const size_t slash = Word(1).find('/');
  if (slash == std::string::npos) return "default";
  return Word(1).substr(slash + 1, Word(1).find('@') - slash - 1);
}

bool Line::HasTimestamp() const {
  return Word(1).find('@') != std::string::npos;
}

uint64_t Line::Stamp() const {
  const size_t at = Word(1).find('@');
  return at == std::string::npos ? 0 : std::strtoull(Word(1).c_str() + at + 1, nullptr, 10);
}

bool Line::Has(std::string_view flag) const {
  return std::find(words.begin() + 1, words.end(), flag) != words.end();
}

bool Line::HasOption(std::string_view name) const {
  const std::string start = std::string(name) + "=";
  return std::any_of(words.begin() + 1, words.end(),
                     [&](const std::string& word) { return word.starts_with(start); });
}

std::string Line::Option(std::string_view name, std::string_view otherwise) const {
  const std::string start = std::string(name) + "=";
  for (const std::string& word : words) {
    if (word.starts_with(start)) return word.substr(start.size());
  }
  return std::string(otherwise);
}

std::string Line::Text() const {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

History ParseHistory(const std::string& text) {
  History history;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    Line parsed;
    for (std::string word; words >> word;) parsed.words.push_back(word);
    if (!parsed.words.empty()) history.push_back(std::move(parsed));
  }
  return history;
}

std::string PrintHistory(const History& history) {
  std::string text;
  for (const Line& line : history) text += line.Text() + "\n";
  return text;
}

std::string WordOf(const Slice& bytes) {
  if (bytes.empty()) return "%";
  std::string word;
  for (const char c : std::string_view(bytes.data(), bytes.size())) {
    if (IsPlain(c)) {
      word += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    word += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return word;
}

std::string BytesOf(const std::string& word) {
  std::string bytes;
  for (size_t i = 0; i < word.size(); i++) {
    if (word[i] != '%') {
      bytes += word[i];
    } else if (i + 2 < word.size()) {
      bytes += static_cast<char>(std::strtol(word.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    }
  }
  return bytes;
}

std::string ValueOf(const std::string& word) {
  const size_t star = word.find('*');
  std::string value = BytesOf(word.substr(0, star));
  if (star == std::string::npos || value.empty()) return value;
  const size_t bytes = std::strtoull(word.c_str() + star + 1, nullptr, 10);
  const std::string once = value;
  // The repetitions are numbered, so that no two are alike.
  for (size_t i = 0; value.size() < bytes; i++) value += once + std::to_string(i * 7919);
  value.resize(bytes);
  return value;
}

std::vector<size_t> PartStarts(const Line& line) {
  std::vector<size_t> starts = {2};
  for (size_t i = 2; i < line.words.size(); i++) {
    if (line.words[i] == kBetweenParts) starts.push_back(i + 1);
  }
  starts.push_back(line.words.size() + 1);
  return starts;
}

size_t PartsOf(const Line& line) {
  return PartStarts(line).size() - 1;
}

Line WithoutPart(const Line& line, size_t i) {
  const std::vector<size_t> starts = PartStarts(line);
  Line shorter;
  if (starts.size() <= 2) return shorter;
  shorter.words.assign(line.words.begin(), line.words.begin() + 2);
  for (size_t part = 0; part + 1 < starts.size(); part++) {
    if (part == i) continue;
    if (shorter.words.size() > 2) shorter.words.emplace_back(kBetweenParts);
    shorter.words.insert(shorter.words.end(), line.words.begin() + static_cast<long>(starts[part]),
                         line.words.begin() + static_cast<long>(starts[part + 1] - 1));
  }
  return shorter;
}

}  // namespace varve::testing
