// SPDX-License-Identifier: Apache-2.0
#pragma once

// A history as text, which tools of proof play, print, shorten and play again: one call a line, its
// verb first, words apart by one space, what follows # left out.
//
//   write a put f1 k v*300 ; del default x
//
// Words are bytes: %XX stands for one, a lone % for none. A value that ends in *N is repeated until
// it has N bytes. A line may have parts, apart by a lone ";", the first of which begins at the
// third word. Lines name what they need; one whose object is not there (any more) means nothing and
// is passed over, so that any lines of a history make a history.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "varve/slice.h"

namespace varve::testing {

struct Line {
  std::vector<std::string> words;  // at least the verb

  const std::string& verb() const { return words[0]; }
  // "" where there is none.
  const std::string& Word(size_t i) const;
  // Of "a/f1@7", the second word: a, f1, and 7.
  std::string Db() const;
  std::string Family() const;
  bool HasTimestamp() const;
  uint64_t Stamp() const;  // 0 where there is none
  // Whether a word says so.
  bool Has(std::string_view flag) const;
  // What follows "name=" in a word, or `otherwise`.
  std::string Option(std::string_view name, std::string_view otherwise = "") const;
  bool HasOption(std::string_view name) const;
  std::string Text() const;
};

using History = std::vector<Line>;

// Empty lines and what follows # are left out.
History ParseHistory(const std::string& text);
std::string PrintHistory(const History& history);

// Words and bytes.
std::string WordOf(const Slice& bytes);
std::string BytesOf(const std::string& word);
std::string ValueOf(const std::string& word);

// What a word of digits says.
uint64_t NumberOf(const std::string& word);

// Where the parts of a line begin, and one past the last.
std::vector<size_t> PartStarts(const Line& line);
size_t PartsOf(const Line& line);
// The line without its i-th part, for lines of several parts; empty words when there is none.
Line WithoutPart(const Line& line, size_t i);

}  // namespace varve::testing
