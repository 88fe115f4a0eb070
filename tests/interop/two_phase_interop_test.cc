// SPDX-License-Identifier: Apache-2.0

// Goal: a directory with transactions that are prepared and undecided moves between Varve and
// RocksDB: each finds what the other prepared, by name, and decides it. Method: each writes, is
// closed or killed with everything in logs or flushed, and the other one goes on; then back again.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/interop/programs.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

const char* const kOurTwoPhases = VARVE_TWO_PHASE_DRIVER;
const char* const kTheirTwoPhases = ROCKSDB_TWO_PHASE_DRIVER;
const char* const kTwoPhasesInC = C_TWO_PHASE_DRIVER;

// Writes one transaction of each kind, with old values below: committed, rolled back, undecided; in
// two families.
const char kWritten[] =
    "plain default a old\n"
    "plain default d old\n"
    "plain default m old\n"
    "plain default s old\n"
    "plain other o old\n"
    "begin done\n"
    "put default a done\n"
    "put other o done\n"
    "prepare\n"
    "begin undone\n"
    "put default u undone\n"
    "prepare\n"
    "begin first\n"
    "put default f 1\n"
    "merge default m 1\n"
    "put other o2 1\n"
    "prepare\n"
    "commit done\n"
    "rollback undone\n"
    "begin second\n"
    "del default d\n"
    "sdel default s\n"
    "prepare\n";

// Returns "" or the problem.
std::string Exchange(const std::string& work, const char* writer, const char* reader, bool flushed,
                     bool killed) {
  fs::create_directories(work);
  const std::string open = "open " + work + "/db\n";
  const std::string end = killed ? "quit\n" : "close\n";
  const std::string flush = flushed ? "flush\nplain default later 1\n" : "plain default later 1\n";
  std::string problem = RunScript(writer, work, open + kWritten + flush + end);
  if (!problem.empty()) return "writing: " + problem;
  const std::string found =
      "prepared first,second\n"
      "scan default a=done,d=old,later=1,m=old,s=old\n"
      "scan other o=done\n";
  // Both engines find the transactions, which remain after an opening, also by one that cannot
  // decide them.
  const std::string refused = "refused " + work + "/db first\n";
  problem = RunScript(kOurTwoPhases, work, refused);
  if (problem.empty()) problem = RunScript(writer, work, open + found + end);
  if (problem.empty()) problem = RunScript(kOurTwoPhases, work, refused);
  if (problem.empty()) problem = RunScript(reader, work, open + found + end);
  if (problem.empty()) problem = RunScript(reader, work, open + found + flush + end);
  if (!problem.empty()) return "finding: " + problem;
  // The first transaction is decided here, the second one there.
  problem = RunScript(reader, work,
                      open + found +
                          "commit first\n"
                          "begin third\n"
                          "put default t 3\n"
                          "prepare\n" +
                          end);
  if (!problem.empty()) return "deciding: " + problem;
  problem = RunScript(writer, work,
                      open +
                          "prepared second,third\n"
                          "scan default a=done,d=old,f=1,later=1,m=old:1,s=old\n"
                          "scan other o=done,o2=1\n"
                          "commit second\n"
                          "rollback third\n"
                          "prepared -\n" +
                          flush + end);
  if (!problem.empty()) return "back: " + problem;
  const std::string decided = open +
                              "prepared -\n"
                              "scan default a=done,f=1,later=1,m=old:1\n"
                              "scan other o=done,o2=1\n" +
                              end;
  problem = RunScript(reader, work, decided);
  if (problem.empty()) problem = RunScript(writer, work, decided);
  return problem.empty() ? "" : "at the end: " + problem;
}

// Each of the two engines writes first, flushed or not, closed or killed.
void ExchangeWith(const char* theirs) {
  const fs::path base = fs::temp_directory_path() / ("varve_two_phase_" + std::to_string(getpid()));
  for (const bool ours_first : {true, false}) {
    for (const bool flushed : {false, true}) {
      for (const bool killed : {false, true}) {
        const std::string name = std::string(ours_first ? "ours" : "theirs") +
                                 (flushed ? "_flushed" : "") + (killed ? "_killed" : "");
        const char* const writer = ours_first ? kOurTwoPhases : theirs;
        const char* const reader = ours_first ? theirs : kOurTwoPhases;
        EXPECT_EQ(Exchange((base / name).string(), writer, reader, flushed, killed), "") << name;
      }
    }
  }
  fs::remove_all(base);
}

TEST(TwoPhaseInteropTest, EachDecidesWhatTheOtherHasPrepared) {
  ExchangeWith(kTheirTwoPhases);
}

// RocksDB gives the updates of such a transaction one sequence number, and the next one of the log
// belongs to the next record.
void ExchangeUpdatesOfOneNumber(const char* theirs) {
  const fs::path base =
      fs::temp_directory_path() / ("varve_one_number_" + std::to_string(getpid()));
  const std::string open = "open " + (base / "db").string();
  for (const bool ours_first : {true, false}) {
    fs::remove_all(base);
    fs::create_directories(base);
    const char* const writer = ours_first ? kOurTwoPhases : theirs;
    const char* const reader = ours_first ? theirs : kOurTwoPhases;
    const std::string work = base.string();
    EXPECT_EQ(RunScript(writer, work,
                        open + " prepared\n"
                               "begin one\n"
                               "put default a 1\n"
                               "put default b 1\n"
                               "put other b 1\n"
                               "put default c 1\n"
                               "put default d 1\n"
                               "put default b 2\n"
                               "merge default m 1\n"
                               "write\n"
                               "begin two\n"
                               "put default d 2\n"
                               "merge default m 2\n"
                               "del default c\n"
                               "put default b 3\n"
                               "write\n"
                               "plain other b 4\n"
                               "quit\n"),
              "");
    const std::string wanted =
        "scan default a=1,b=3,d=2,m=1:2\n"
        "scan other b=4\n";
    EXPECT_EQ(RunScript(reader, work, open + " prepared\n" + wanted + "close\n"), "") << reader;
    EXPECT_EQ(
        RunScript(writer, work, open + " prepared\n" + wanted + "flush\n" + wanted + "close\n"),
        "");
    EXPECT_EQ(RunScript(kOurTwoPhases, work, open + "\n" + wanted + "close\n"), "");
  }
  fs::remove_all(base);
}

TEST(TwoPhaseInteropTest, UpdatesOfOneNumberStayInOrder) {
  ExchangeUpdatesOfOneNumber(kTheirTwoPhases);
}

// Varve takes over undecided transactions in RocksDB's memtables once they are decided.
void TakeOverWritePrepared(const char* theirs) {
  const fs::path base = fs::temp_directory_path() / ("varve_written_" + std::to_string(getpid()));
  const std::string directory = (base / "db").string();
  const std::string open = "open " + directory;
  const std::string work = base.string();
  for (const bool flushed : {false, true}) {
    fs::remove_all(base);
    fs::create_directories(base);
    EXPECT_EQ(RunScript(theirs, work,
                        open +
                            " prepared\n"
                            "plain default a 0\n"
                            "plain default b 0\n"
                            "plain other c 0\n"
                            "begin x1\n"
                            "put default a 1\n"
                            "put other c 1\n"
                            "put default a 2\n"
                            "del default d\n"
                            "prepare\n"
                            "begin x2\n"
                            "put default b 1\n"
                            "put default e 1\n"
                            "put default f 1\n"
                            "prepare\n"
                            "begin x3\n"
                            "put default g 1\n"
                            "prepare\n"
                            "plain default h 1\n" +
                            (flushed ? "flush\n" : "") +
                            "commit x1\n"
                            "plain default a 3\n"
                            "rollback x2\n"
                            "plain default f 2\n"
                            "plain default e 2\n"
                            "quit\n"),
              "");
    EXPECT_EQ(RunScript(kOurTwoPhases, work, "refused " + directory + " 'x3'\n"), "");
    EXPECT_EQ(RunScript(theirs, work,
                        open + " prepared\nprepared x3\ncommit x3\nplain default g 2\nquit\n"),
              "");
    const std::string wanted =
        "scan default a=3,b=0,e=2,f=2,g=2,h=1\n"
        "scan other c=1\n";
    EXPECT_EQ(RunScript(kOurTwoPhases, work, open + " prepared\nprepared -\n" + wanted + "close\n"),
              "")
        << flushed;
    EXPECT_EQ(RunScript(theirs, work, open + " prepared\n" + wanted + "close\n"), "");
  }
  fs::remove_all(base);
}

TEST(TwoPhaseInteropTest, WritePreparedIsTakenOverDecided) {
  TakeOverWritePrepared(kTheirTwoPhases);
}

// Returns true if tools/peers has brought the library of RocksDB 11, whose C API has two phases.
bool HasVersion11() {
  return getenv("VARVE_ROCKSDB_LIBRARY") != nullptr;
}

// The timestamp comes with the decision, in either engine. Logs of 7.8.3 do not record the length
// of timestamps, and it stops reading at logs that do, so it gets flushed data only.
TEST(TwoPhaseInteropTest, Version11TakesCommitTimestampsOver) {
  if (!HasVersion11()) GTEST_SKIP() << "VARVE_ROCKSDB_LIBRARY names none";
  const fs::path base = fs::temp_directory_path() / ("varve_stamped_" + std::to_string(getpid()));
  const std::string open = "open " + (base / "db").string() + " stamped\n";
  const std::string work = base.string();
  for (const bool ours_first : {true, false}) {
    for (const bool flushed : {false, true}) {
      fs::remove_all(base);
      fs::create_directories(base);
      const char* const writer = ours_first ? kOurTwoPhases : kTwoPhasesInC;
      const char* const reader = ours_first ? kTwoPhasesInC : kOurTwoPhases;
      SCOPED_TRACE(std::string(writer) + (flushed ? ", flushed" : ""));
      EXPECT_EQ(RunScript(writer, work,
                          open +
                              "begin one\n"
                              "put default a 1\n"
                              "put other b 1\n"
                              "prepare\n"
                              "commit one 5\n"
                              "begin two\n"
                              "put other b 2\n"
                              "put other c 2\n"
                              "prepare\n"
                              "begin three\n"
                              "put other d 3\n"
                              "prepare\n" +
                              (flushed ? "flush\n" : "") + "quit\n"),
                "");
      EXPECT_EQ(RunScript(reader, work,
                          open + "prepared three,two\n"
                                 "scan default a=1\n"
                                 "scan other b@5=1\n"
                                 "commit two 7\n"
                                 "scan other b@7=2,c@7=2\n"
                                 "quit\n"),
                "");
      EXPECT_EQ(RunScript(writer, work,
                          open + "prepared three\n"
                                 "scan other b@7=2,c@7=2\n"
                                 "rollback three\n"
                                 "close\n"),
                "");
      EXPECT_EQ(RunScript(reader, work, open + "prepared -\nscan other b@7=2,c@7=2\nclose\n"), "");
    }
  }
  fs::remove_all(base);
}

TEST(TwoPhaseInteropTest, Version11AndOursDecideForEachOther) {
  if (!HasVersion11()) GTEST_SKIP() << "VARVE_ROCKSDB_LIBRARY names none";
  ExchangeWith(kTwoPhasesInC);
}

TEST(TwoPhaseInteropTest, WritePreparedOfVersion11IsTakenOver) {
  if (!HasVersion11()) GTEST_SKIP() << "VARVE_ROCKSDB_LIBRARY names none";
  ExchangeUpdatesOfOneNumber(kTwoPhasesInC);
  TakeOverWritePrepared(kTwoPhasesInC);
}

}  // namespace
}  // namespace varve::testing
