// SPDX-License-Identifier: Apache-2.0
#pragma once

// A history as text: one operation a line, its verb first, words apart by one space.
//
//   open a 0                      opens database a; 0: which of the option set's variations
//   family a/f1 reverse           makes a family; reverse: its order, filtered: what it holds
//   write a put f1 k v*300 ; del default x ; range f1 c d
//   write a fill f1 100 30 v      puts n000100 to n000129; wipe deletes as many
//   snap a s1
//   get a/f1 k snap=s1
//   write a@7 put timed1 k v      families called timed... have timestamps: 7
//   scan a/timed1@9 back          as of 9
//
// Words are bytes: %XX stands for one, a lone % for none. A value that ends in *N is repeated until
// it has N bytes. Lines name what they need; one whose family, snapshot or iterator is not there
// (any more) means nothing and is passed over, so that any lines of a history make a history.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "varve/slice.h"

#include "tests/model/reference.h"

namespace varve::testing {

inline bool HasTimestamps(const Slice& family) {
  return family.starts_with("timed");
}

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

// Of the n-th key of a "fill".
std::string NumberedKey(uint64_t n);

// The changes of a line "write a ...", in order. A note has none.
std::vector<Change> ChangesOf(const Line& line);
// The line without its i-th part, for lines of several parts; empty words when there is none.
Line WithoutPart(const Line& line, size_t i);
size_t PartsOf(const Line& line);

// What of a value can be relied upon: compaction filters may remove values that begin with "drop"
// or "purge" whenever they like, and turn the capital C of others that begin with "Chg" into c.
bool IsRemovable(const Slice& value);
std::string Shown(const Slice& value);

// What a word of digits says.
uint64_t NumberOf(const std::string& word);

}  // namespace varve::testing
