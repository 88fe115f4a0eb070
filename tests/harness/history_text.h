// SPDX-License-Identifier: Apache-2.0
#pragma once

// Represents a history as text, which test tools run, print, shorten and run again. It has one call
// a line, with the verb first and one space between words; text after # is ignored.
//
//   write a put f1 k v*300 ; del default x
//
// Words are bytes: %XX is one byte, a lone % is none. A value that ends in *N is repeated to N
// bytes. A line may have parts, separated by a lone ";"; the first part begins at the third word.
// Lines name the objects that they need; a line whose object does not exist (any more) is skipped,
// so that any subset of a history's lines is a history.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "varve/slice.h"

namespace varve::testing {

struct Line {
  std::vector<std::string> words;  // At least the verb.

  const std::string& verb() const { return words[0]; }
  // Returns the i-th word; "" if there is none.
  const std::string& Word(size_t i) const;
  // Return the parts of the second word: of "a/f1@7", a, f1, and 7.
  std::string Db() const;
  std::string Family() const;
  bool HasTimestamp() const;
  uint64_t Stamp() const;  // 0 if there is none.
  // True if a word equals the flag.
  bool Has(std::string_view flag) const;
  // Returns the text after "name=" in a word, or `otherwise`.
  std::string Option(std::string_view name, std::string_view otherwise = "") const;
  bool HasOption(std::string_view name) const;
  std::string Text() const;
};

using History = std::vector<Line>;

// Parses a history; skips empty lines and text after #.
History ParseHistory(const std::string& text);
std::string PrintHistory(const History& history);

// Convert between words and bytes.
std::string WordOf(const Slice& bytes);
std::string BytesOf(const std::string& word);
std::string ValueOf(const std::string& word);

// Returns the number that a word of digits denotes.
uint64_t NumberOf(const std::string& word);

// Returns the starts of a line's parts, and one past the last.
std::vector<size_t> PartStarts(const Line& line);
size_t PartsOf(const Line& line);
// Returns the line without its i-th part, for lines of several parts; without words if there is no
// such part.
Line WithoutPart(const Line& line, size_t i);

}  // namespace varve::testing
