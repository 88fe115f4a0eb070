// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/meant_differences.h"

#include <fnmatch.h>

#include <algorithm>
#include <sstream>

namespace varve::testing {

namespace {

bool Matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool MatchesAny(const std::vector<std::string>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return Matches(pattern, text); });
}

// Returns true if the line that the entry must follow is among the lines.
bool HappenedBefore(const MeantDifference& entry, const std::vector<AnsweredLine>& session) {
  return entry.after.empty() ||
         std::any_of(session.begin(), session.end(), [&](const AnsweredLine& earlier) {
           return MatchesAny(entry.after, earlier.line + " => " + earlier.rocksdb);
         });
}

std::string Rest(std::istringstream* words) {
  std::string rest;
  for (std::string word; *words >> word;) rest += (rest.empty() ? "" : " ") + word;
  return rest;
}

// Returns "", or what is wrong with the line.
std::string TakeField(const std::string& line, MeantDifference* entry) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  std::string text = Rest(&words);
  if (name == "call") {
    entry->calls.push_back(text);
  } else if (name == "varve") {
    entry->varve = text;
  } else if (name == "rocksdb") {
    entry->rocksdb = text;
  } else if (name == "after") {
    entry->after.push_back(text);
  } else if (name == "reason") {
    entry->reason += (entry->reason.empty() ? "" : " ") + text;
  } else if (name == "then" && text == "stop") {
    entry->stops = true;
  } else {
    return "what is \"" + line + "\"?";
  }
  return "";
}

}  // namespace

MeantDifferences ParseMeantDifferences(const std::string& text, std::string* problem) {
  MeantDifferences all;
  problem->clear();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') {
      all.emplace_back();
      all.back().title = line;
    } else if (!all.empty() && problem->empty()) {
      *problem = TakeField(line, &all.back());
    }
  }
  for (const MeantDifference& entry : all) {
    if (entry.calls.empty() || entry.varve.empty() || entry.rocksdb.empty() ||
        entry.reason.empty()) {
      *problem = entry.title + ": call, varve, rocksdb or reason is missing";
    }
  }
  return all;
}

const MeantDifference* FindMeant(const MeantDifferences& all, const AnsweredLine& line,
                                 const std::vector<AnsweredLine>& session) {
  for (const MeantDifference& entry : all) {
    if (MatchesAny(entry.calls, line.line) && Matches(entry.varve, line.varve) &&
        Matches(entry.rocksdb, line.rocksdb) && HappenedBefore(entry, session)) {
      return &entry;
    }
  }
  return nullptr;
}

std::vector<std::string> BulletsBelow(const std::string& page, const std::string& heading) {
  std::vector<std::string> bullets;
  bool inside = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) {
      inside = line == heading;
      continue;
    }
    if (!inside || line.empty()) continue;
    if (line.starts_with("- ")) {
      bullets.emplace_back();
      line.erase(0, 2);
    }
    if (bullets.empty()) continue;
    std::istringstream words(line);
    bullets.back() += (bullets.back().empty() ? "" : " ") + Rest(&words);
  }
  return bullets;
}

}  // namespace varve::testing
