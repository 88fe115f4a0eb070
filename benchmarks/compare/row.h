// SPDX-License-Identifier: Apache-2.0
#pragma once

// A row of the comparison: one piece of work that every library does, each time in a fresh process
// on a fresh copy of the data set it needs. Rows are defined in the files named *_rows.cc.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/compare/digest.h"
#include "benchmarks/compare/engine.h"
#include "benchmarks/compare/keys.h"

namespace compare {

// How large everything is. Rows take their counts as shares of it.
struct Scale {
  uint64_t n = 1'000'000;  // keys of the usual data set
  double seconds = 30;     // that rows of latencies last
  uint64_t seed = 42;
  bool compresses = false;
};

constexpr size_t kValueSize = 100;
constexpr size_t kLargeValueSize = 1000;

enum class Unit { kPerSecond, kMicroseconds, kMegabytes };

// More is better of rates, less of everything else.
constexpr bool MoreIsBetter(Unit unit) {
  return unit == Unit::kPerSecond;
}

struct Figure {
  std::string name;  // empty: the row's only one
  Unit unit = Unit::kPerSecond;
  double value = 0;
};

// The work of one row on one library, in its own process.
class Run {
 public:
  // `when_measured` is told at the end of what is measured.
  Run(Engine* engine, std::string path, const Scale& scale, std::function<void()> when_measured);

  Engine& engine() { return engine_; }
  const std::string& path() const { return path_; }
  const Scale& scale() const { return scale_; }

  // The scale's options of all rows, for a row to add its own.
  Settings settings() const;
  void Report(std::string name, Unit unit, double value);
  void ReportRate(double operations, double seconds);
  // Everything that counts is over; what follows checks the result, and neither time nor memory of
  // it are the row's.
  void Measured();
  // Measured(), and the whole database is read for the digest.
  void ReadBack(Digest::Covers covers = Digest::Covers::kWhole);

  Digest& digest() { return digest_; }
  const std::vector<Figure>& figures() const { return figures_; }

 private:
  Engine& engine_;
  const std::string path_;
  const Scale& scale_;
  const std::function<void()> when_measured_;
  bool measured_ = false;
  std::vector<Figure> figures_;
  Digest digest_;
};

struct Row {
  std::string name;  // parts with '/' between them; --only takes the first of them
  std::string data;  // the data set that it begins with; empty: none
  std::vector<bool Abilities::*> needs;
  std::function<void(Run*)> run;
};

double SecondsOf(const std::function<void()>& work);

// Runs `work` once in each of `threads` threads, which begin together; adds their digests up and
// returns the seconds until the last one ended. One thread is the caller's.
double InThreads(Run* run, int threads, Digest::Covers covers,
                 const std::function<void(int thread, Session* session, Digest* digest)>& work);

std::vector<Row> WriteRows();
std::vector<Row> ReadRows();
std::vector<Row> MissRows();
std::vector<Row> MixRows();
std::vector<Row> LatencyRows();
std::vector<Row> MovingRows();
// All of them, in the order in which they are shown. Rows of one data set follow each other.
std::vector<Row> AllRows();

// Whether one of the patterns, separated by commas, is the row's name or its first parts; true if
// there are none.
bool IsWanted(std::string_view name, std::string_view patterns);

}  // namespace compare
