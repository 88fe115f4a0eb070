// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/history.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

namespace varve::testing {

namespace {

Change::Kind KindOf(const std::string& word) {
  if (word == "put") return Change::kPut;
  if (word == "del") return Change::kDelete;
  if (word == "sdel") return Change::kSingleDelete;
  if (word == "range") return Change::kDeleteRange;
  return Change::kMerge;
}

// Adds the changes of "fill <family> <from> <count> <value>" and "wipe <family> <from> <count>".
void AddNumbered(const Line& line, size_t at, std::vector<Change>* changes) {
  const uint64_t from = NumberOf(line.Word(at + 2));
  const uint64_t count = std::min<uint64_t>(NumberOf(line.Word(at + 3)), 100000);
  const bool fills = line.Word(at) == "fill";
  const std::string value = fills ? ValueOf(line.Word(at + 4)) : "";
  for (uint64_t i = from; i < from + count; i++) {
    Change change;
    change.kind = fills ? Change::kPut : Change::kDelete;
    change.family = line.Word(at + 1);
    change.key = NumberedKey(i);
    if (fills) change.value = std::to_string(i) + ":" + value;
    changes->push_back(std::move(change));
  }
}

}  // namespace

std::string NumberedKey(uint64_t n) {
  std::string digits = std::to_string(n);
  if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
  return "n" + digits;
}

std::vector<Change> ChangesOf(const Line& line) {
  std::vector<Change> changes;
  const std::vector<size_t> starts = PartStarts(line);
  for (size_t part = 0; part + 1 < starts.size(); part++) {
    const size_t at = starts[part];
    if (line.Word(at) == "note" || line.Word(at).empty()) continue;
    if (line.Word(at) == "fill" || line.Word(at) == "wipe") {
      AddNumbered(line, at, &changes);
      continue;
    }
    Change change;
    change.kind = KindOf(line.Word(at));
    change.family = line.Word(at + 1);
    change.key = BytesOf(line.Word(at + 2));
    const bool is_range = change.kind == Change::kDeleteRange;
    if (at + 3 < starts[part + 1] - 1) {
      change.value = is_range ? BytesOf(line.Word(at + 3)) : ValueOf(line.Word(at + 3));
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

Line AsWrite(const Line& line, bool reverse) {
  Line write = line;
  write.words[0] = "write";
  if (line.verb() == "ingest") return write;
  const std::string& family = line.Family();
  const std::string& begin = line.Word(2);
  const std::string& end = line.Word(3);
  write.words.resize(1);
  write.words.push_back(line.Db());
  const auto add = [&](std::vector<std::string> part) {
    if (write.words.size() > 2) write.words.emplace_back(";");
    write.words.insert(write.words.end(), part.begin(), part.end());
  };
  if (line.verb() == "excise") {
    add({"range", family, begin, end});
    return write;
  }
  // No key is above the last of these.
  const std::string ends[] = {WordOf(""), WordOf(std::string(24, '\xff'))};
  const std::string& first = ends[reverse ? 1 : 0];
  const std::string& last = ends[reverse ? 0 : 1];
  if (begin != first) add({"range", family, first, begin});
  if (end != last) add({"range", family, end, last});
  if (reverse) add({"del", family, last});  // A range does not reach to its end.
  return write;
}

bool IsRemovable(const Slice& value) {
  return value.starts_with("drop") || value.starts_with("purge");
}

bool WritesEntity(const Change& change) {
  return change.kind == Change::kPut && (change.key.size() + change.value.size()) % 4 == 1;
}

std::string Shown(const Slice& value) {
  std::string shown = value.ToString();
  if (shown.starts_with("Chg")) shown[0] = 'c';
  return shown;
}

}  // namespace varve::testing
