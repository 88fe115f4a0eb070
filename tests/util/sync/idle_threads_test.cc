// SPDX-License-Identifier: Apache-2.0

// Goal: threads of idle priority that are runnable are counted, and no others are. Method: lines of
// text, a made-up table of processes, and child processes that compute.

#include "util/sync/idle_threads.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace varve {
namespace {

// Returns a line of a thread with that state, nice value, number of threads and policy.
std::string StatLine(char state, int nice, int threads, int policy) {
  std::string line = "71 (a (b) R 1) ";
  line += state;
  for (int field = 1; field <= 49; field++) {
    const int value = field == 16 ? nice : field == 17 ? threads : field == 38 ? policy : field;
    line += " " + std::to_string(value);
  }
  return line + "\n";
}

class ProcFolder {
 public:
  ProcFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "proc_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~ProcFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(IdleThreadsTest, ALineIsParsed) {
  ThreadStat stat;
  ASSERT_TRUE(stat.Parse(StatLine('R', 0, 3, SCHED_OTHER).c_str()));
  EXPECT_TRUE(stat.runnable);
  EXPECT_FALSE(stat.idle_priority);
  EXPECT_EQ(stat.threads, 3u);
  ASSERT_TRUE(stat.Parse(StatLine('S', 0, 1, SCHED_IDLE).c_str()));
  EXPECT_FALSE(stat.runnable);
  EXPECT_TRUE(stat.idle_priority);
  for (const int nice : {-20, 9, 10, 19}) {
    ASSERT_TRUE(stat.Parse(StatLine('R', nice, 1, SCHED_OTHER).c_str()));
    EXPECT_EQ(stat.idle_priority, nice >= 10) << nice;
  }
}

TEST(IdleThreadsTest, ACutLineIsRefused) {
  const std::string line = StatLine('R', 19, 1, SCHED_IDLE);
  const size_t policy = line.find(" 37 ") + 4;
  for (size_t bytes = 0; bytes < policy; bytes++) {
    ThreadStat stat;
    EXPECT_FALSE(stat.Parse(line.substr(0, bytes).c_str())) << bytes;
  }
  ThreadStat stat;
  EXPECT_TRUE(stat.Parse(line.substr(0, policy + 1).c_str()));
}

TEST(IdleThreadsTest, APassGoesOverAllProcesses) {
  const ProcFolder proc;
  const auto add = [&](const std::string& folder, const std::string& line) {
    std::filesystem::create_directories(proc.path() + "/" + folder);
    std::ofstream(proc.path() + "/" + folder + "/stat") << line;
  };
  for (int i = 0; i < 100; i++) add(std::to_string(1000 + i), StatLine('R', 19, 1, SCHED_OTHER));
  for (int i = 0; i < 50; i++) add(std::to_string(2000 + i), StatLine('S', 19, 1, SCHED_OTHER));
  for (int i = 0; i < 50; i++) add(std::to_string(3000 + i), StatLine('R', 0, 1, SCHED_OTHER));
  add("self", StatLine('R', 19, 1, SCHED_OTHER));
  // Its first thread sleeps, and two of the others do not.
  add("4000", StatLine('S', 0, 4, SCHED_IDLE));
  add("4000/task/4000", StatLine('S', 0, 4, SCHED_IDLE));
  add("4000/task/4001", StatLine('R', 0, 4, SCHED_IDLE));
  add("4000/task/4002", StatLine('R', 0, 4, SCHED_IDLE));
  add("4000/task/4003", StatLine('R', 0, 4, SCHED_OTHER));
  std::filesystem::create_directories(proc.path() + "/5000");
  IdleThreads threads(proc.path().c_str());
  int steps = 1;
  while (!threads.Step()) steps++;
  EXPECT_EQ(threads.Count(), 102u);
  EXPECT_GT(steps, 5);
  std::filesystem::remove_all(proc.path() + "/4000");
  while (!threads.Step()) {
  }
  EXPECT_EQ(threads.Count(), 100u);
}

TEST(IdleThreadsTest, NoTableMeansNone) {
  IdleThreads threads("/no/such/folder");
  EXPECT_TRUE(threads.Step());
  EXPECT_EQ(threads.Count(), 0u);
}

TEST(IdleThreadsTest, ChildrenThatComputeAreSeen) {
  std::vector<pid_t> children;
  for (int i = 0; i < 3; i++) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const sched_param none{};
      if (::sched_setscheduler(0, SCHED_IDLE, &none) != 0) ::_exit(1);
      ::alarm(60);
      for (;;) asm volatile("");
    }
    children.push_back(child);
  }
  size_t most = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (most < children.size() && std::chrono::steady_clock::now() < end) {
    if (!IdleThreads::OfMachine().Step()) continue;
    most = std::max(most, IdleThreads::OfMachine().Count());
  }
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_GE(most, children.size());
}

}  // namespace
}  // namespace varve
