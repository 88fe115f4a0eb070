// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/case_watch.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

namespace varve::testing {

namespace {

constexpr int kThreadsMost = 16;
constexpr size_t kNameBytes = 200;
constexpr size_t kWrongKept = 15;
constexpr std::chrono::seconds kLongestCase{10};

// The current case of each thread; plain arrays, because a signal handler reads them.
struct UnderWay {
  char name[kNameBytes];
  std::atomic<int64_t> since_ms{0};  // 0 if there is none.
};
UnderWay under_way[kThreadsMost];

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void PrintUnderWay(const char* why) {
  auto print = [](const char* text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
  };
  print(why);
  print("; cases under way:\n");
  for (const UnderWay& slot : under_way) {
    if (slot.since_ms.load() == 0) continue;
    print("  ");
    print(slot.name);
    print("\n");
  }
}

void OnCrash(int signal_number) {
  PrintUnderWay("CRASH");
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

CaseTotals RunCases(uint64_t count, int threads, const std::function<std::string(uint64_t)>& name,
                    const std::function<CaseResult(uint64_t)>& run) {
  for (int signal_number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) signal(signal_number, OnCrash);
  CaseTotals totals;
  std::map<std::string, uint64_t> outcomes;
  std::mutex mutex;
  std::atomic<uint64_t> next{0};
  std::atomic<bool> over{false};
  auto work = [&](int t) {
    for (uint64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      const std::string text = name(i);
      snprintf(under_way[t].name, kNameBytes, "%s", text.c_str());
      under_way[t].since_ms.store(NowMs());
      CaseResult result = run(i);
      under_way[t].since_ms.store(0);
      const std::lock_guard<std::mutex> lock(mutex);
      totals.cases++;
      outcomes[result.outcome]++;
      if (result.wrong.empty()) continue;
      totals.wrong_count++;
      if (totals.wrong.size() < kWrongKept) totals.wrong.push_back(text + ": " + result.wrong);
    }
  };
  std::thread watchdog([&] {
    while (!over.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      for (const UnderWay& slot : under_way) {
        const int64_t since = slot.since_ms.load();
        if (since == 0 || NowMs() - since < std::chrono::milliseconds(kLongestCase).count()) {
          continue;
        }
        PrintUnderWay("HANG");
        abort();
      }
    }
  });
  std::vector<std::thread> workers;
  for (int t = 0; t < std::min(threads, kThreadsMost); t++) workers.emplace_back(work, t);
  for (std::thread& worker : workers) worker.join();
  over.store(true);
  watchdog.join();
  for (int signal_number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) signal(signal_number, SIG_DFL);
  totals.outcomes.assign(outcomes.begin(), outcomes.end());
  return totals;
}

void PrintTotals(const char* what, const CaseTotals& totals) {
  std::string line = std::string("  ") + what + ": " + std::to_string(totals.cases) + " cases";
  for (const auto& [outcome, n] : totals.outcomes) line += ", " + outcome + " " + std::to_string(n);
  printf("%s\n", line.c_str());
  for (const std::string& wrong : totals.wrong) printf("    WRONG %s\n", wrong.c_str());
  fflush(stdout);
}

}  // namespace varve::testing
