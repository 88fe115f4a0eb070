// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/watch.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>

// A function of the sanitizers' runtime, where it is linked.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace varve::fuzz {

namespace {

// Plain globals: a signal handler reads them.
std::atomic<uint64_t> execution_count{0};
const char* target_under_way = "";
const uint8_t* input_under_way = nullptr;
size_t input_bytes = 0;
uint64_t run_seed = 0;
int seconds_allowed = 0;
int seconds_spent = 0;
uint64_t count_seen = 0;
std::atomic<bool> reported{false};

void Report(bool hang) {
  if (reported.exchange(true)) return;
  char text[300];
  int n = snprintf(text, sizeof(text), "finding-%s", target_under_way);
  const int fd = open(text, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd >= 0) {
    if (write(fd, input_under_way, input_bytes) < 0) text[0] = '?';
    close(fd);
  }
  n = snprintf(text, sizeof(text),
               "%s in target %s; its input of %zu bytes is in ./finding-%s\n"
               "RESULT fuzz cases=%llu wrong=0 lost=0 crash=%d hang=%d seed=%llu\n",
               hang ? "HANG" : "CRASH", target_under_way, input_bytes, target_under_way,
               static_cast<unsigned long long>(execution_count.load()), hang ? 0 : 1, hang ? 1 : 0,
               static_cast<unsigned long long>(run_seed));
  if (write(STDOUT_FILENO, text, static_cast<size_t>(n)) < 0) return;
}

void OnFatalSignal(int signal_number) {
  Report(false);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void OnDeath() {
  Report(false);
}

void OnSecond(int) {
  const uint64_t now = execution_count.load();
  seconds_spent = now == count_seen ? seconds_spent + 1 : 0;
  count_seen = now;
  if (seconds_spent < seconds_allowed) return;
  Report(true);
  _exit(1);
}

}  // namespace

void StartWatch(uint64_t seed, int hang_seconds) {
  run_seed = seed;
  seconds_allowed = hang_seconds;
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(OnDeath);
    signal(SIGABRT, OnFatalSignal);
  } else {
    for (const int s : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) signal(s, OnFatalSignal);
  }
  struct sigaction action = {};
  action.sa_handler = OnSecond;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every_second = {{1, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &every_second, nullptr);
}

void WatchExecution(const char* target, const uint8_t* data, size_t size) {
  target_under_way = target;
  input_under_way = data;
  input_bytes = size;
  execution_count.fetch_add(1);
}

}  // namespace varve::fuzz
