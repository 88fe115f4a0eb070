// SPDX-License-Identifier: Apache-2.0
#pragma once

// The answers in which Varve is meant to differ from RocksDB, as meant_differences.txt lists them:
//
//   a title
//     call    merge bare *         the line; * stands for anything, ? for a character
//     varve   Not implemented      its answer
//     rocksdb Invalid argument     the other's
//     reason  A sentence, which the migration page has, too.
//     after   range * => Invalid*  only after such a line of the session, with RocksDB's answer
//     then    stop                 what follows in the history is not comparable, if so
//
// A difference is of the entry all of whose patterns it matches: of several of a name, one.

#include <string>
#include <vector>

namespace varve::testing {

struct MeantDifference {
  std::string title;
  std::vector<std::string> calls;
  std::string varve;
  std::string rocksdb;
  std::vector<std::string> after;
  std::string reason;
  bool stops = false;
};

using MeantDifferences = std::vector<MeantDifference>;

// Sets *problem to "" if every entry is complete.
MeantDifferences ParseMeantDifferences(const std::string& text, std::string* problem);

// Holds each library's answer to a line.
struct AnsweredLine {
  std::string line;
  std::string varve;
  std::string rocksdb;
};

// Returns null if there is none. `session` holds the answers since the database was opened.
const MeantDifference* FindMeant(const MeantDifferences& all, const AnsweredLine& line,
                                 const std::vector<AnsweredLine>& session);

// Returns the texts of the bullets below the heading, with single spaces between words.
std::vector<std::string> BulletsBelow(const std::string& page, const std::string& heading);

}  // namespace varve::testing
