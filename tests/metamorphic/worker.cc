// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

#include "tests/metamorphic/generator.h"
#include "tests/metamorphic/player.h"
#include "tests/metamorphic/rocksdb_executor.h"
#include "tests/metamorphic/varve_executor.h"

namespace varve::testing {

namespace {

const char* const kWorkVariable = "VARVE_METAMORPHIC_WORK";
const char* const kReportVariable = "VARVE_METAMORPHIC_REPORT";
constexpr std::chrono::seconds kLongestLine{30};

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

std::string TemporaryName(const char* what) {
  static int counter = 0;
  const char* const directory = std::getenv("TMPDIR");
  return std::string(directory == nullptr ? "/tmp" : directory) + "/varve_metamorphic_" +
         std::to_string(getpid()) + "_" + what + std::to_string(counter++);
}

std::string TextOf(const Work& work) {
  std::ostringstream text;
  text << work.seed << ' ' << work.histories << ' ' << work.lines << ' ' << work.first_set << ' '
       << work.sets << ' ' << work.share << ' ' << work.shares << ' ' << work.rocksdb << ' '
       << (work.file.empty() ? "-" : work.file);
  return text.str();
}

Work WorkOf(const std::string& text) {
  Work work;
  std::istringstream in(text);
  in >> work.seed >> work.histories >> work.lines >> work.first_set >> work.sets >> work.share >>
      work.shares >> work.rocksdb >> work.file;
  if (work.file == "-") work.file.clear();
  return work;
}

// ---- The parent's side ----

struct Child {
  pid_t pid = -1;
  std::string report;
};

Child Spawn(const Work& work) {
  Child child;
  child.report = TemporaryName("report");
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; one++) variables.emplace_back(*one);
  variables.push_back(std::string(kWorkVariable) + "=" + TextOf(work));
  variables.push_back(std::string(kReportVariable) + "=" + child.report);
  // The worker must not see the variables of ctest's shards, as it belongs to none.
  std::erase_if(variables, [](const std::string& one) { return one.starts_with("GTEST_"); });
  std::vector<char*> pointers;
  for (std::string& one : variables) pointers.push_back(one.data());
  pointers.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=MetamorphicWorker.*";
  std::string brief = "--gtest_brief=1";
  char* arguments[] = {program.data(), filter.data(), brief.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn(&child.pid, program.c_str(), &actions, nullptr, arguments, pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

// Reads the report. Its lines are "case <seed> <set>" before a case, "done <lines>" or "found
// <text>" after it.
Report ReadReport(const std::string& path) {
  Report report;
  std::istringstream lines(ReadWhole(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "case") {
      words >> report.seed >> report.set;
    } else if (verb == "done") {
      uint64_t played = 0;
      words >> played;
      report.played += played;
      report.cases++;
    } else if (verb == "found") {
      report.what = line.substr(6) + "\n";
    } else if (report.found()) {
      report.what += line + "\n";
    }
  }
  return report;
}

std::string Ending(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return std::string("the process dies of ") + strsignal(number);
  }
  return "the process ends with " + std::to_string(WEXITSTATUS(status));
}

Report Collect(const Child& child, std::chrono::steady_clock::time_point end) {
  int status = 0;
  bool late = false;
  while (waitpid(child.pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end && !late) {
      late = true;
      kill(child.pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Report report = ReadReport(child.report);
  std::remove(child.report.c_str());
  if (report.found()) return report;
  if (late) {
    report.what = "it takes too long";
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    report.what = Ending(status);
  }
  return report;
}

// ---- The worker's side ----

class ReportFile {
 public:
  explicit ReportFile(const char* path)
      : fd_(path == nullptr ? STDERR_FILENO
                            : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;
  void Say(const std::string& line) {
    const std::string text = line + "\n";
    if (write(fd_, text.data(), text.size()) < 0) std::abort();
  }

 private:
  const int fd_;
};

// Ends the process when a line takes too long.
void WatchForHangs(const History* history, ReportFile* report) {
  Progress& progress = CurrentProgress();
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const int64_t since = progress.since_ms.load();
    if (since == 0 || SteadyMs() - since < std::chrono::milliseconds(kLongestLine).count()) {
      continue;
    }
    const size_t line = progress.line.load();
    report->Say("found line " + std::to_string(line + 1) + " hangs: " + (*history)[line].Text());
    _exit(3);
  }
}

struct Played {
  Finding finding;
  std::string described;
};

Played PlayOn(uint64_t set, const History& history) {
  Played played;
  if (set == kRocksDbSet) {
    RocksDbExecutor executor;
    played.finding = Play(history, &executor);
    played.described = " RocksDB";
    return played;
  }
  VarveExecutor executor(set);
  played.finding = Play(history, &executor);
  played.described = executor.described();
  return played;
}

// Returns true to continue.
bool DoCase(uint64_t seed, uint64_t set, const History& history, ReportFile* report) {
  report->Say("case " + std::to_string(seed) + " " + std::to_string(set));
  const Played played = PlayOn(set, history);
  const Finding& finding = played.finding;
  if (!finding.found()) {
    report->Say("done " + std::to_string(finding.played));
    return true;
  }
  report->Say("found line " + std::to_string(finding.line + 1) + ": " +
              history[finding.line].Text() + "\n  " + finding.what +
              "\n  options:" + played.described);
  return false;
}

}  // namespace

Report RunWorkers(const std::vector<Work>& works, std::chrono::seconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  std::vector<Child> children;
  for (const Work& work : works) children.push_back(Spawn(work));
  Report sum;
  for (const Child& child : children) {
    const Report one = Collect(child, end);
    sum.played += one.played;
    sum.cases += one.cases;
    if (!one.found() || sum.found()) continue;
    sum.what = one.what;
    sum.set = one.set;
    sum.seed = one.seed;
  }
  return sum;
}

Report RunAlone(const History& history, uint64_t set, int times, std::chrono::seconds most) {
  Work work;
  work.file = TemporaryName("history");
  work.first_set = set;
  std::ofstream(work.file) << PrintHistory(history);
  Report report;
  for (int i = 0; i < times && !report.found(); i++) report = RunWorkers({work}, most);
  std::remove(work.file.c_str());
  return report;
}

bool IsWorker() {
  return std::getenv(kWorkVariable) != nullptr;
}

void DoWork() {
  const Work work = WorkOf(std::getenv(kWorkVariable));
  // The watching thread reads both until the process ends.
  static ReportFile report(std::getenv(kReportVariable));
  static History history;
  std::thread watch;
  for (uint64_t i = 0; i < work.histories; i++) {
    const uint64_t seed = work.seed + i;
    CurrentProgress().since_ms.store(0);
    history =
        work.file.empty() ? RandomHistory(seed, work.lines) : ParseHistory(ReadWhole(work.file));
    if (!watch.joinable()) watch = std::thread(WatchForHangs, &history, &report);
    const uint64_t first = work.rocksdb ? 0 : 1;
    for (uint64_t j = first; j <= work.sets; j++) {
      if ((i * (work.sets + 1) + j) % work.shares != work.share) continue;
      const uint64_t set = j == 0 ? kRocksDbSet : work.first_set + j - 1;
      if (!DoCase(seed, set, history, &report)) _exit(0);
    }
  }
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace varve::testing
