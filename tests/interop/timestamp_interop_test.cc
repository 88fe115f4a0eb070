// SPDX-License-Identifier: Apache-2.0

// Goal: a database with timestamps that either engine wrote answers the same, as of every time, in
// the other one: reads, iterators, iterators over history, and the mark below which history need
// not be kept. Method: random changes with ascending timestamps beside a list of all versions; the
// directory goes back and forth, with what was written only in the log, in tables, compacted, or
// compacted below the mark; both engines write into it in turn.
//
// RocksDB 7.8.3 has no merges with timestamps, and its logs do not tell how long timestamps are:
// these are exchanged with a newer one only. What 11.8.1 gets wrong is not asked of it: merges
// together with range deletions or below the mark, of which its flushes and compactions lose
// operands, and iterators over history that go backwards (rocksdb_timestamp_driver.cc).

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/harness/environment.h"
#include "tests/interop/programs.h"
#include "tests/interop/script.h"
#include "tests/model/timestamp_reference.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 3;
constexpr int kChangesARound = 120;
constexpr uint64_t kTimestampKeys = 40;
constexpr int kRandomTimes = 2;  // at which a step reads, beside the first, the last and the future

const char* const kOurTimestampDriver = VARVE_TIMESTAMP_DRIVER;
const char* const kTheirTimestampDriver = ROCKSDB_TIMESTAMP_DRIVER;

// Place of the written data when the other engine comes.
enum class Stage : uint8_t { kLogged, kFlushed, kCompacted, kCollapsed };
const char* const kStageNames[] = {"logged", "flushed", "compacted", "collapsed"};

const char* const kFormats[] = {
    "",
    ";target_file_size_base=4096;block_based_table_factory={filter_policy=bloomfilter:10:false;"
    "block_size=256;index_type=kTwoLevelIndexSearch;partition_filters=true;"
    "metadata_block_size=128}",
    ";prefix_extractor=capped:2;memtable_prefix_bloom_size_ratio=0.1;block_based_table_factory={"
    "filter_policy=ribbonfilter:10:-1;whole_key_filtering=false;block_size=512}",
};

// Moves one directory between the engines. Each step returns "" or the problem.
class TimestampedRun {
 public:
  TimestampedRun(std::string work, Stage stage, const char* format, bool merges, uint64_t seed)
      : work_(std::move(work)),
        stage_(stage),
        format_(format),
        merges_(merges),
        random_(seed),
        reference_(BytewiseComparator()) {
    fs::create_directories(work_);
  }

  std::string Write(const char* driver) {
    Begin(driver, "create_if_missing=true", "open");
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kChangesARound; ++i) WriteOne();
      if (stage_ != Stage::kLogged) Line("flush");
      if (stage_ == Stage::kCollapsed) Raise();
      // The last tables stay uncompacted.
      const bool last = round == kRounds - 1;
      if (stage_ >= Stage::kCompacted && (!last || random_.OneIn(2))) Line("compact");
    }
    Expect();
    Line(stage_ == Stage::kLogged ? "quit" : "close");
    return RunScript(driver, work_, text_);
  }

  std::string Read(const char* driver, const char* open, bool compact) {
    Begin(driver, "-", open);
    Expect();
    Line("checksums");
    if (compact) {
      Line("compact");
      Expect();
    }
    Line("close");
    return RunScript(driver, work_, text_);
  }

 private:
  void Line(const std::string& line) { text_ += line + "\n"; }

  void Begin(const char* driver, const std::string& db_options, const std::string& open) {
    driver_ = driver;
    opened_mark_ = mark_;
    text_.clear();
    // The operator joins without a delimiter, as the reference does. The write buffer holds
    // everything: 11.8.1 may report an older time for a value with operands in two memtables.
    Line("options " + db_options +
         " comparator=leveldb.BytewiseComparator.u64ts;write_buffer_size=1048576;"
         "merge_operator={id=StringAppendOperator;delimiter=}" +
         format_);
    Line(open + " " + work_ + "/db");
  }

  std::string RandomKey() {
    const uint64_t k = random_.Below(kTimestampKeys);
    std::string key = "k" + std::to_string(k % 7) + std::to_string(k);
    // Some keys continue with bytes that look like another key's timestamp.
    if (k % 9 == 0) key = "k1" + std::string(k % 8, '\0') + static_cast<char>(k);
    return key;
  }

  void WriteOne() {
    if (!random_.OneIn(3)) now_ += random_.Below(3);
    if (random_.OneIn(6)) {
      Line("batch");
      for (uint64_t n = random_.Below(8); n > 0; --n) WriteChange();
      WriteChange();
      Line("write");
    } else {
      WriteChange();
    }
  }

  void WriteChange() {
    const uint64_t dice = random_.Below(100);
    Change change;
    change.key = RandomKey();
    if (dice < 4 && !merges_) {
      change.kind = Change::kDeleteRange;
      change.value = RandomKey();
      if (change.value < change.key) std::swap(change.key, change.value);
    } else if (dice < 20) {
      change.kind = Change::kDelete;
    } else if (dice < 26) {
      change.key = "once" + std::to_string(once_put_++);
      change.value = random_.Text(5);
    } else if (dice < 31 && once_deleted_ < once_put_) {
      change.kind = Change::kSingleDelete;
      change.key = "once" + std::to_string(once_deleted_++);
    } else {
      change.kind = merges_ && dice < 55 ? Change::kMerge : Change::kPut;
      change.value = random_.Text(random_.Below(random_.OneIn(30) ? 3000 : 20));
    }
    Apply(change);
  }

  void Apply(const Change& change) {
    static const char* const kVerbs[] = {"put", "del", "sdel", "range", "merge"};
    std::string line = kVerbs[change.kind];
    line += " " + ToHex(change.key) + " " + std::to_string(now_);
    const bool bare = change.kind == Change::kDelete || change.kind == Change::kSingleDelete;
    if (!bare) line += " " + ToHex(change.value);
    Line(line);
    reference_.Apply(change, now_);
    keys_.insert(change.key);
  }

  void Raise() {
    mark_ = std::max(mark_, now_ - std::min<uint64_t>(now_, random_.Below(90)));
    Line("raise " + std::to_string(mark_));
  }

  // Adds expectations at the mark, now, later and some times in between.
  void Expect() {
    if (mark_ > 0) {
      Line("mark " + std::to_string(mark_));
      // Newer versions of RocksDB keep the old mark until something else happens to the family.
      if (mark_ == opened_mark_ || driver_ == kOurTimestampDriver) {
        Line("refused " + std::to_string(mark_ - 1));
      }
    } else if (driver_ == kOurTimestampDriver) {
      Line("mark -");  // RocksDB 7.8.3 aborts
    }
    std::vector<uint64_t> times = {mark_, now_, now_ + 1000};
    for (int i = 0; i < kRandomTimes; ++i) times.push_back(mark_ + random_.Below(now_ - mark_ + 1));
    for (const uint64_t time : times) View(time);
    for (const uint64_t time : times) History(mark_ + random_.Below(time - mark_ + 1), time);
    History(mark_, now_);
  }

  void View(uint64_t time) {
    Line("view " + std::to_string(time));
    std::set<std::string> absent = keys_;
    absent.insert("k3x");
    for (const auto& [key, answer] : reference_.Scan(time, reference_.order())) {
      absent.erase(key);
      Line("want " + ToHex(key) + " " + std::to_string(answer.timestamp) + " " +
           ToHex(answer.value));
    }
    for (const std::string& key : absent) Line("absent " + ToHex(key));
    Line("check");
  }

  // Merges alone have no meaning.
  void History(uint64_t from, uint64_t to) {
    if (merges_) return;
    Line("history " + std::to_string(from) + " " + std::to_string(to));
    for (const auto& [key, version] : reference_.History(from, to, reference_.order())) {
      // These are types of internal keys: a value, a deletion with a timestamp, a single deletion.
      const char* type = "1";
      if (version.kind == Change::kDelete) type = "20";
      if (version.kind == Change::kSingleDelete) type = "7";
      Line("version " + ToHex(key) + " " + std::to_string(version.timestamp) + " " + type + " " +
           ToHex(version.value));
    }
    Line("walk");
  }

  const std::string work_;
  const Stage stage_;
  const std::string format_;
  const bool merges_;
  const char* driver_ = nullptr;  // that gets the script
  Random random_;
  TimestampReference reference_;
  std::set<std::string> keys_;  // that were ever written
  std::string text_;
  uint64_t now_ = 1;
  uint64_t mark_ = 0;         // 0: none
  uint64_t opened_mark_ = 0;  // when the script began
  uint64_t once_put_ = 0;
  uint64_t once_deleted_ = 0;
};

// Exchanges both ways; in the end both engines have written files. Returns "" or the problem.
std::string Exchange(TimestampedRun* run, const char* writer, const char* reader) {
  std::string problem = run->Write(writer);
  if (problem.empty()) problem = run->Read(reader, "reader", /*compact=*/false);
  if (problem.empty()) problem = run->Read(reader, "open", /*compact=*/false);
  if (problem.empty()) problem = run->Read(writer, "open", /*compact=*/false);
  if (problem.empty()) problem = run->Write(reader);
  if (problem.empty()) problem = run->Read(writer, "reader", /*compact=*/false);
  if (problem.empty()) problem = run->Write(writer);
  if (problem.empty()) problem = run->Read(reader, "open", /*compact=*/true);
  if (problem.empty()) problem = run->Write(reader);
  if (problem.empty()) problem = run->Read(writer, "open", /*compact=*/true);
  if (problem.empty()) problem = run->Read(reader, "reader", /*compact=*/false);
  return problem;
}

TEST(TimestampInterop, HistoryMovesBothWays) {
  const char* const base = getenv("TEST_TMPDIR");
  const fs::path root = fs::path(base != nullptr ? base : fs::temp_directory_path().string()) /
                        ("varve_timestamp_interop_" + std::to_string(getpid()));
  fs::create_directories(root);
  const bool they_know_all = RunScript(kTheirTimestampDriver, root.string(), "knows-all\n").empty();
  uint64_t job = 0;
  for (const Stage stage :
       {Stage::kLogged, Stage::kFlushed, Stage::kCompacted, Stage::kCollapsed}) {
    if (stage == Stage::kLogged && !they_know_all) continue;
    for (const char* format : kFormats) {
      for (const bool ours_first : {true, false}) {
        SCOPED_TRACE(std::string(kStageNames[static_cast<int>(stage)]) + format +
                     (ours_first ? ", ours first" : ", theirs first"));
        ++job;
        if (job % SampleStep() != FirstSample()) continue;
        const bool merges = they_know_all && stage != Stage::kCollapsed && job / 2 % 2 == 0;
        TimestampedRun run((root / std::to_string(job)).string(), stage, format, merges, job);
        EXPECT_EQ(Exchange(&run, ours_first ? kOurTimestampDriver : kTheirTimestampDriver,
                           ours_first ? kTheirTimestampDriver : kOurTimestampDriver),
                  "");
      }
    }
  }
  if (!HasFailure()) fs::remove_all(root);
}

}  // namespace
}  // namespace varve::testing
