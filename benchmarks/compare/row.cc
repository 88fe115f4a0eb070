// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/row.h"

#include <barrier>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

namespace compare {

Run::Run(Engine* engine, std::string path, const Scale& scale, std::function<void()> when_measured)
    : engine_(*engine),
      path_(std::move(path)),
      scale_(scale),
      when_measured_(std::move(when_measured)) {}

Settings Run::settings() const {
  Settings settings;
  settings.compresses = scale_.compresses;
  return settings;
}

void Run::Report(std::string name, Unit unit, double value) {
  figures_.push_back(Figure{std::move(name), unit, value});
}

void Run::ReportRate(double operations, double seconds) {
  Report("", Unit::kPerSecond, operations / seconds);
}

void Run::Measured() {
  if (!std::exchange(measured_, true)) when_measured_();
}

void Run::ReadBack(Digest::Covers covers) {
  Measured();
  Digest digest(covers);
  engine_.NewSession()->Scan({}, UINT64_MAX, true, &digest);
  digest_.Join(digest);
}

double SecondsOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double InThreads(Run* run, int threads, Digest::Covers covers,
                 const std::function<void(int, Session*, Digest*)>& work) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < threads; i++) sessions.push_back(run->engine().NewSession());
  std::vector<Digest> digests(static_cast<size_t>(threads), Digest(covers));
  double seconds = 0;
  if (threads == 1) {
    seconds = SecondsOf([&] { work(0, sessions[0].get(), &digests[0]); });
  } else {
    std::barrier ready(threads + 1);
    std::vector<std::thread> running;
    for (int i = 0; i < threads; i++) {
      running.emplace_back([&, i] {
        ready.arrive_and_wait();
        work(i, sessions[static_cast<size_t>(i)].get(), &digests[static_cast<size_t>(i)]);
      });
    }
    seconds = SecondsOf([&] {
      ready.arrive_and_wait();
      for (std::thread& thread : running) thread.join();
    });
  }
  for (const Digest& digest : digests) run->digest().Join(digest);
  return seconds;
}

std::vector<Row> AllRows() {
  std::vector<Row> all;
  for (const auto rows : {WriteRows, ReadRows, MissRows, MixRows, LatencyRows, MovingRows,
                          LargeRows, StyleRows, ValueRows}) {
    for (Row& row : rows()) all.push_back(std::move(row));
  }
  return all;
}

bool IsWanted(std::string_view name, std::string_view patterns) {
  if (patterns.empty()) return true;
  while (!patterns.empty()) {
    const size_t comma = patterns.find(',');
    const std::string_view pattern = patterns.substr(0, comma);
    const bool begins = !pattern.empty() && name.starts_with(pattern);
    if (begins && (name.size() == pattern.size() || name[pattern.size()] == '/')) return true;
    if (comma == std::string_view::npos) return false;
    patterns.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace compare
