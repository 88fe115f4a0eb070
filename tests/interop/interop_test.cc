// SPDX-License-Identifier: Apache-2.0

// Goal: a directory moves between Varve and RocksDB 7.8.3 in both directions, whatever options it
// was written with. Method: each combination of options and contents is written by one engine from
// a script, read and compacted by the other one and by RocksDB's public tools, compared key by key
// with the state the script must lead to, and read by its writer again. The engines run in
// processes of their own (driver.h). Each run takes a part of the combinations, which
// VARVE_ROTATION chooses; VARVE_SAMPLE_STEP=1: all. VARVE_INTEROP_ONLY=N runs one and keeps its
// files.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/harness/environment.h"
#include "tests/interop/combos.h"
#include "tests/interop/programs.h"
#include "tests/interop/script.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

constexpr size_t kCombosWanted = 40;
constexpr int kCyclesWanted = 40;
constexpr int kWorkers = 2;

const char* const kOurs = VARVE_DRIVER;
const char* const kTheirs = ROCKSDB_DRIVER;

bool ToolsAreMissing() {
  for (const char* tool : {"ldb", "sst_dump", "db_bench"}) {
    if (!ProgramExists(tool)) {
      printf("SKIPPED: %s is not installed; nothing was compared with RocksDB\n", tool);
      return true;
    }
  }
  return false;
}

// Runs one combination in a directory of its own. Every step returns "" or the problem.
class ComboRun {
 public:
  ComboRun(const Combo& combo, const std::string& work, const char* writer, const char* reader)
      : combo_(combo),
        work_(work),
        directory_(work + "/db"),
        writer_(writer),
        reader_(reader),
        state_(Script(combo.content.families).state()) {}

  std::string Run() {
    fs::create_directories(work_);
    std::string problem = WriteFirst();
    if (problem.empty() && writer_ == kOurs) problem = CheckWithPublicTools();
    if (problem.empty()) problem = Read(reader_, "reader", /*compact=*/false);
    if (problem.empty()) problem = ReadAsWritten();
    if (problem.empty()) problem = Read(reader_, "open", /*compact=*/true);
    if (problem.empty()) problem = CheckWithPublicTools();
    if (problem.empty()) problem = Read(writer_, "open", /*compact=*/false);
    for (int cycle = 0; problem.empty() && cycle < combo_.ping_pongs; cycle++) {
      problem = WriteMore(cycle % 2 == 0 ? reader_ : writer_, cycle);
      if (problem.empty()) problem = Read(cycle % 2 == 0 ? writer_ : reader_, "open", false);
      if (!problem.empty()) problem = "cycle " + std::to_string(cycle) + ": " + problem;
    }
    return problem;
  }

 private:
  void Header(Script* script, const std::string& db, const std::string& family,
              const std::string& open) {
    script->Line("db " + db);
    if (!combo_.fast_bytes.empty()) script->Line("paths " + combo_.fast_bytes);
    for (const std::string& name : combo_.content.families) {
      script->Line("family " + name + " " + family);
    }
    script->Line(open + " " + directory_);
  }

  // The public tools know one directory only.
  std::string CheckWithPublicTools() {
    return combo_.fast_bytes.empty() ? CheckWithTools(directory_, state_) : "";
  }

  std::string WriteFirst() {
    Script script(combo_.content.families);
    Header(&script, combo_.db_options, combo_.family_options, "open");
    script.Write(combo_.content);
    script.Expect(script.state());
    script.Line(combo_.content.pending ? "quit" : "close");
    state_ = script.state();
    return RunScript(writer_, work_, script.text());
  }

  // Continues from the state, with the engine's default options.
  std::string WriteMore(const char* driver, int cycle) {
    Script script(state_);
    Content content = combo_.content;
    content.seed += 100 + static_cast<uint64_t>(cycle);
    content.rounds = 1 + cycle % 2;
    content.single_deletes = false;  // their numbers begin anew
    content.pending = cycle % 2 == 0;
    Header(&script, "-", "-", "open");
    script.Write(content);
    script.Expect(script.state());
    script.Line(content.pending ? "quit" : "close");
    state_ = script.state();
    return RunScript(driver, work_, script.text());
  }

  // Reads with the writer's table options, so that its filters and hash indexes are used.
  std::string ReadAsWritten() {
    Script script(combo_.content.families);
    Header(&script, "-", combo_.reading_options, "reader");
    script.Expect(state_);
    script.Line("close");
    const std::string problem = RunScript(reader_, work_, script.text());
    return problem.empty() ? "" : "as written: " + problem;
  }

  std::string Read(const char* driver, const std::string& open, bool compact) {
    Script script(combo_.content.families);
    Header(&script, "-", "-", open);
    script.Expect(state_);
    script.Line("checksums");
    if (compact) {
      for (const std::string& family : combo_.content.families) script.Line("compact " + family);
      script.Line("check");
    }
    script.Line("close");
    const std::string problem = RunScript(driver, work_, script.text());
    return problem.empty() ? "" : "after " + open + ": " + problem;
  }

  const Combo& combo_;
  const std::string work_;
  const std::string directory_;
  const char* const writer_;
  const char* const reader_;
  ReferenceState state_;
};

struct Job {
  Combo combo;
  const char* writer;
  const char* reader;
};

class Interop : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ToolsAreMissing()) GTEST_SKIP() << "RocksDB's tools are not installed";
    const char* base = getenv("TEST_TMPDIR");
    root_ = fs::path(base != nullptr ? base : fs::temp_directory_path().string()) /
            ("varve_interop_" + std::to_string(getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override {
    if (!root_.empty() && getenv("VARVE_INTEROP_ONLY") == nullptr) fs::remove_all(root_);
  }

  // Runs the jobs on a few threads and reports failures at the end. Returns the number of
  // successes.
  size_t RunAll(const std::vector<Job>& jobs) {
    const char* only = getenv("VARVE_INTEROP_ONLY");
    std::atomic<size_t> next{0};
    std::atomic<size_t> fine{0};
    std::mutex mutex;
    std::vector<std::string> problems;
    auto work = [&] {
      for (size_t i = next.fetch_add(1); i < jobs.size(); i = next.fetch_add(1)) {
        if (only != nullptr && i != strtoull(only, nullptr, 10)) continue;
        const std::string path = (root_ / std::to_string(i)).string();
        const std::string problem =
            ComboRun(jobs[i].combo, path, jobs[i].writer, jobs[i].reader).Run();
        if (only == nullptr) fs::remove_all(path);
        if (problem.empty()) {
          fine++;
          continue;
        }
        const std::lock_guard<std::mutex> lock(mutex);
        problems.push_back("job " + std::to_string(i) + " " + jobs[i].combo.name + "\n    " +
                           problem);
      }
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < kWorkers; t++) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    for (const std::string& problem : problems) ADD_FAILURE() << problem;
    return fine;
  }

  fs::path root_;
};

// Returns a key as Debian's db_bench makes it: the number, big-endian, padded with '0'.
std::string BenchKey(uint64_t k) {
  std::string key(16, '0');
  for (size_t i = 0; i < 8; i++) key[i] = static_cast<char>(k >> (8 * (7 - i)));
  return key;
}

// Returns every SampleStep()-th of the jobs.
std::vector<Job> SampleOf(const std::vector<Job>& jobs) {
  std::vector<Job> sample;
  for (size_t i = FirstSample(); i < jobs.size(); i += SampleStep()) sample.push_back(jobs[i]);
  return sample;
}

TEST_F(Interop, DirectoriesMoveBothWays) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Job> jobs;
  for (const Combo& combo : OurCombos()) jobs.push_back({combo, kOurs, kTheirs});
  const size_t ours = jobs.size();
  for (const Combo& combo : TheirCombos()) jobs.push_back({combo, kTheirs, kOurs});
  int cycles = 0;
  for (const Job& job : jobs) cycles += job.combo.ping_pongs;
  const size_t all = jobs.size();
  if (getenv("VARVE_INTEROP_ONLY") == nullptr) jobs = SampleOf(jobs);
  const size_t fine = RunAll(jobs);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  printf(
      "RESULT diff_rocksdb cases=%zu of_ours=%zu of_theirs=%zu of_pingpong=%d wrong=%zu lost=0 "
      "crash=0 "
      "hang=0 secs=%.0f\n",
      jobs.size(), ours, all - ours, cycles, jobs.size() - fine, seconds.count());
  EXPECT_GE(cycles, kCyclesWanted);
  EXPECT_GE(ours, kCombosWanted);
  EXPECT_GE(all - ours, kCombosWanted);
  EXPECT_GE(jobs.size(), all / SampleStep());
}

// Moves keys and values whose lengths lie around powers of two. With VARVE_SIZES_MIB it adds a
// value that needs a block above 256 MiB.
TEST_F(Interop, SizesAtTheEdgesMoveBothWays) {
  std::vector<std::string> words;  // words of lines that differ in the verb
  for (size_t power = 1; power <= size_t{1} << 17; power *= 2) {
    for (const size_t n : {power - 1, power, power + 1}) {
      const std::string size = std::to_string(n);
      if (n == 0) continue;
      words.push_back(" default " + ToHex("value" + size) + " *" + size + ":61");
      words.push_back(" default *" + size + ":62 " + ToHex("of key " + size));
    }
  }
  if (getenv("VARVE_SIZES_MIB") != nullptr) words.push_back(" default 6C6C *268435457:63");
  for (const bool ours_first : {true, false}) {
    SCOPED_TRACE(ours_first ? "ours first" : "theirs first");
    const std::string open = "open " + (root_ / (ours_first ? "ours" : "theirs")).string() + "\n";
    std::string puts;
    std::string wants;
    for (const std::string& word : words) {
      puts += "put" + word + "\n";
      wants += "want" + word + "\n";
    }
    const std::string begin = "db create_if_missing=true\nfamily default -\n" + open;
    const char* const writer = ours_first ? kOurs : kTheirs;
    const char* const reader = ours_first ? kTheirs : kOurs;
    // Reads from the log, and from a table that the other engine wrote, and back.
    EXPECT_EQ(RunScript(writer, root_.string(), begin + puts + wants + "check\nquit\n"), "");
    EXPECT_EQ(RunScript(reader, root_.string(),
                        begin + wants + "check\ncompact default\ncheck\nchecksums\nclose\n"),
              "");
    EXPECT_EQ(RunScript(writer, root_.string(),
                        begin + wants + "check\ncompact default\ncheck\nchecksums\nclose\n"),
              "");
    EXPECT_EQ(RunScript(reader, root_.string(), begin + wants + "check\nchecksums\nclose\n"), "");
  }
}

// Several logs are still needed. Each begins with a mark. The last is as the kill left it, with
// zeros up to the end of the allocation, or was cut by an opening and a closing.
TEST_F(Interop, LogsOfKilledProcessesAreReadByBoth) {
  constexpr int kSessions = 3;
  constexpr uint64_t kKeysEach = 300;
  for (const bool closed_since : {false, true}) {
    SCOPED_TRACE(closed_since ? "opened and closed since" : "as the kill left it");
    const std::string directory = (root_ / (closed_since ? "closed" : "killed")).string();
    const std::string options =
        "db create_if_missing=true;avoid_flush_during_recovery=true;"
        "avoid_flush_during_shutdown=true";
    ReferenceState state = Script(std::vector<std::string>{"default"}).state();
    for (int session = 0; session < kSessions + (closed_since ? 1 : 0); session++) {
      Script script(state);
      script.Line(options);
      script.Line("family default -");
      script.Line("open " + directory);
      const bool kill = session < kSessions;
      for (uint64_t k = 0; kill && k < kKeysEach; k++) {
        script.Do(Change{Change::kPut, "default", BenchKey(k * (session + 2)),
                         std::to_string(session) + std::string(100, 'v')});
      }
      script.Line(kill ? "quit" : "close");
      ASSERT_EQ(RunScript(kOurs, root_.string(), script.text()), "");
      state = script.state();
    }
    const std::vector<std::string> logs = FilesNamed(directory, ".log");
    EXPECT_GE(logs.size(), size_t{kSessions});
    size_t marks = 0;
    for (const std::string& log : logs) {
      int exit_code = 0;
      const std::string dump = RunProgram("ldb dump_wal --header --walfile=" + log, &exit_code);
      EXPECT_EQ(exit_code, 0) << dump;
      // This is sequence, count, bytes and offset of an empty batch that counts.
      if (dump.find(",0,46,0,") != std::string::npos) marks++;
    }
    EXPECT_EQ(marks, logs.size() - 1) << "all but the first follow on another";
    Script reading(state);
    reading.Line("db -");
    reading.Line("family default -");
    reading.Line("open " + directory);
    reading.Expect(state);
    reading.Line("close");
    ASSERT_EQ(RunScript(kTheirs, root_.string(), reading.text()), "");
    EXPECT_EQ(CheckWithTools(directory, state), "");
    EXPECT_EQ(RunScript(kOurs, root_.string(), reading.text()), "");
  }
}

// Both engines go back from a missing table to the same state, and the other one continues from
// there.
TEST_F(Interop, BestEffortsGoBackToTheSameState) {
  for (const auto& [writer, reader] : {std::pair(kOurs, kTheirs), std::pair(kTheirs, kOurs),
                                       std::pair(kTheirs, kTheirs), std::pair(kOurs, kOurs)}) {
    SCOPED_TRACE(std::string(writer) + " writes, " + reader + " goes back");
    const std::string directory = (root_ / "back").string();
    Script writing(std::vector<std::string>{"default"});
    writing.Line("db create_if_missing=true");
    writing.Line("family default disable_auto_compactions=true");
    writing.Line("open " + directory);
    ReferenceState before_last = writing.state();
    for (int table = 0; table < 4; table++) {
      before_last = writing.state();
      for (uint64_t k = 0; k < 50; k++) {
        writing.Do(Change{Change::kPut, "default", BenchKey(k * (table + 1)),
                          std::to_string(table) + std::string(100, 'v')});
      }
      writing.Line("flush default");
    }
    writing.Line("close");
    ASSERT_EQ(RunScript(writer, root_.string(), writing.text()), "");
    const std::vector<std::string> tables = FilesNamed(directory, ".sst");
    ASSERT_EQ(tables.size(), 4u);
    fs::remove(*std::ranges::max_element(tables));
    for (const bool back : {true, false}) {
      Script reading(before_last);
      reading.Line(back ? "db best_efforts_recovery=true" : "db -");
      reading.Line("family default disable_auto_compactions=true");
      reading.Line("open " + directory);
      reading.Expect(before_last);
      reading.Line("close");
      ASSERT_EQ(RunScript(back ? reader : kTheirs, root_.string(), reading.text()), "");
    }
    EXPECT_EQ(CheckWithTools(directory, before_last), "");
    fs::remove_all(directory);
  }
}

TEST_F(Interop, DebiansDbBenchReadsOurDirectory) {
  constexpr uint64_t kBenchKeys = 5000;
  const std::string directory = (root_ / "bench").string();
  Script script({std::vector<std::string>{"default"}});
  script.Line("db create_if_missing=true");
  script.Line("family default compression=kSnappyCompression;write_buffer_size=65536");
  script.Line("open " + directory);
  for (uint64_t k = 0; k < kBenchKeys; k++) {
    script.Do(Change{Change::kPut, "default", BenchKey(k), std::string(100, 'v')});
  }
  script.Line("compact default");
  script.Line("close");
  ASSERT_EQ(RunScript(kOurs, root_.string(), script.text()), "");
  int exit_code = 0;
  const std::string keys = std::to_string(kBenchKeys);
  const std::string output =
      RunProgram("db_bench --db=" + directory +
                     " --use_existing_db=1 --key_size=16 "
                     "--benchmarks=readseq,readrandom,verifychecksum --num=" +
                     keys,
                 &exit_code);
  EXPECT_EQ(exit_code, 0) << output;
  EXPECT_NE(output.find("(" + keys + " of " + keys + " found)"), std::string::npos) << output;
  EXPECT_NE(output.find("verifychecksum"), std::string::npos) << output;
}

TEST_F(Interop, OurDbBenchReadsDebiansDirectory) {
  const std::string program = VARVE_BINARY_DIR "/bin/db_bench";
  if (!fs::exists(program)) {
    printf("SKIPPED: %s is not built\n", program.c_str());
    GTEST_SKIP();
  }
  const std::string common = " --db=" + (root_ / "bench").string() + " --num=5000 --key_size=16";
  int exit_code = 0;
  std::string output = RunProgram("db_bench --benchmarks=fillseq" + common, &exit_code);
  ASSERT_EQ(exit_code, 0) << output;
  output = RunProgram(program + " --use_existing_db=1 --benchmarks=readseq,readrandom" + common,
                      &exit_code);
  EXPECT_EQ(exit_code, 0) << output;
  EXPECT_NE(output.find("(5000 of 5000 found)"), std::string::npos) << output;
}

}  // namespace
}  // namespace varve::testing
