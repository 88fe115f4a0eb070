// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/tolerant_reading.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "tests/crash/family_kinds.h"

namespace varve::testing {

namespace {

constexpr int kKeysAsked = 300;  // The number that numbered writes use.

struct Scan {
  std::vector<std::pair<std::string, std::string>> found;
  bool complete = false;
};

// The results of one family.
struct Answers {
  std::vector<std::pair<std::string, std::optional<std::string>>> gets;  // Without the failed ones.
  Scan forwards;
  Scan backwards;
};

class Reader {
 public:
  Reader(DB* db, Verdict* verdict) : db_(db), verdict_(verdict) {}

  Answers Ask(ColumnFamilyHandle* family, const ReadOptions& options) {
    Answers answers;
    options_ = options;
    family_ = family->GetName();
    Get(family, "#", &answers);
    for (int k = 0; k < kKeysAsked; k++) {
      char key[16];
      snprintf(key, sizeof(key), "key%05d", k);
      Get(family, key, &answers);
    }
    std::unique_ptr<Iterator> it(db_->NewIterator(options_, family));
    it->SeekToFirst();
    for (; it->Valid(); it->Next()) Take(*it, &answers.forwards);
    answers.forwards.complete = Note(it->status());
    it->SeekToLast();
    for (; it->Valid(); it->Prev()) Take(*it, &answers.backwards);
    answers.backwards.complete = Note(it->status());
    return answers;
  }

 private:
  // Maximum length of a scan, whatever is damaged.
  static constexpr size_t kLongestScan = 10000;

  bool Note(const Status& s) {
    if (s.ok()) return true;
    if (verdict_->errors++ == 0) verdict_->first_error = s.ToString();
    const std::string text = s.ToString();
    const bool unnamed =
        text.find("wide columns") != std::string::npos && text.find("key ") == std::string::npos;
    if (unnamed && verdict_->unnamed.empty()) verdict_->unnamed = text;
    return false;
  }

  void CheckColumns(const std::string& key, const std::string& value, const WideColumns& columns) {
    if (!verdict_->wrong.empty() || AreColumnsOf(family_, key, value, columns)) return;
    verdict_->wrong = "family " + family_ + ": wrong columns of " + key;
  }

  void Get(ColumnFamilyHandle* family, const std::string& key, Answers* answers) {
    std::string value;
    const Status s = db_->Get(options_, family, key, &value);
    if (s.IsNotFound()) {
      answers->gets.emplace_back(key, std::nullopt);
    } else if (Note(s)) {
      answers->gets.emplace_back(key, value);
    }
    if (HasColumns(family_)) GetColumns(family, key, answers);
  }

  // The default column is judged as the value of a Get is.
  void GetColumns(ColumnFamilyHandle* family, const std::string& key, Answers* answers) {
    PinnableWideColumns read;
    const Status s = db_->GetEntity(options_, family, key, &read);
    if (s.IsNotFound()) {
      answers->gets.emplace_back(key, std::nullopt);
    } else if (Note(s)) {
      const WideColumns& columns = read.columns();
      const bool has_default = !columns.empty() && columns[0].name() == kDefaultWideColumnName;
      const std::string value = has_default ? columns[0].value().ToString() : "";
      CheckColumns(key, value, columns);
      answers->gets.emplace_back(key, value);
    }
  }

  void Take(const Iterator& it, Scan* scan) {
    if (scan->found.size() < kLongestScan) {
      scan->found.emplace_back(it.key().ToString(), it.value().ToString());
      CheckColumns(scan->found.back().first, scan->found.back().second, it.columns());
    } else {
      fprintf(stderr, "a scan does not end\n");
      abort();
    }
  }

  DB* const db_;
  Verdict* const verdict_;
  ReadOptions options_;
  std::string family_;  // the name of the one that is read
};

template <typename It>
std::string CompareScan(const Scan& scan, It begin, It end) {
  for (const auto& [key, value] : scan.found) {
    if (begin == end) return "extra key " + key;
    if (begin->first != key) return "expected key " + begin->first + ", found " + key;
    if (begin->second != value) return "wrong value of " + key;
    ++begin;
  }
  if (scan.complete && begin != end) return "missing key " + begin->first;
  return "";
}

std::string Compare(const Answers& answers, const FamilyState& state) {
  for (const auto& [key, value] : answers.gets) {
    const auto it = state.find(key);
    const bool there = it != state.end();
    if (there != value.has_value() || (there && it->second != *value)) {
      return "Get of " + key + (value.has_value() ? " found something else" : " found nothing");
    }
  }
  std::string problem = CompareScan(answers.forwards, state.begin(), state.end());
  if (!problem.empty()) return "forwards: " + problem;
  problem = CompareScan(answers.backwards, state.rbegin(), state.rend());
  return problem.empty() ? "" : "backwards: " + problem;
}

// The results of a family as of a moment, that is, after this many writes.
struct Asked {
  std::string family;
  uint64_t moment;
  Answers answers;
};

// Reads all families as of now, and families with timestamps also as of a moment amid the writes.
std::vector<Asked> AskAll(DB* db, const Handles& handles, const StateTable& states,
                          Reader* reader) {
  std::vector<Asked> all;
  for (const std::string& family : states.families()) {
    ColumnFamilyHandle* const handle = handles.at(family);
    std::vector<uint64_t> moments = {UINT64_MAX};
    uint64_t mark = 0;
    if (HasVersions(family) && MarkOf(db, handle, &mark).ok()) {
      moments.push_back(std::max(mark, states.most() / 2));
    }
    for (const uint64_t moment : moments) {
      const ReadingAsOf reading(family, moment);
      all.push_back({family, moment, reader->Ask(handle, reading.options())});
    }
  }
  return all;
}

}  // namespace

StateTable::StateTable(std::vector<std::string> families, uint64_t most)
    : families_(std::move(families)) {
  ReferenceState state;
  for (const std::string& family : families_) state.families[family];
  states_.push_back(state);
  for (uint64_t i = 1; i <= most; i++) {
    ApplyNumbered(i, families_, &state);
    states_.push_back(state);
  }
}

Verdict ReadTolerantly(DB* db, const Handles& handles, const StateTable& states, uint64_t least,
                       uint64_t most) {
  Verdict verdict;
  Reader reader(db, &verdict);
  const std::vector<Asked> all = AskAll(db, handles, states, &reader);
  if (!verdict.wrong.empty()) return verdict;
  std::string newest_problem;
  for (uint64_t n = most + 1; n-- > least;) {
    std::string problem;
    for (const Asked& asked : all) {
      if (!problem.empty()) break;
      const uint64_t writes = std::min(n, asked.moment);
      problem = Compare(asked.answers, states.At(writes).families.at(asked.family));
      if (!problem.empty()) problem = "family " + asked.family + ": " + problem;
    }
    if (problem.empty()) {
      verdict.n = n;
      return verdict;
    }
    if (n == most) newest_problem = problem;
  }
  const auto& gets = all[0].answers.gets;
  verdict.wrong = "no state in " + std::to_string(least) + ".." + std::to_string(most) +
                  "; against the newest: " + newest_problem + "; marker: " +
                  (gets.empty() || gets[0].first != "#" ? "?" : gets[0].second.value_or("none"));
  return verdict;
}

}  // namespace varve::testing
