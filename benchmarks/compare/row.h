// SPDX-License-Identifier: Apache-2.0
#pragma once

// A row is one piece of work that every library does, each time in a fresh process on a fresh copy
// of the data set it needs. Rows are defined in the files named *_rows.cc.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/compare/digest.h"
#include "benchmarks/compare/engine.h"
#include "benchmarks/compare/keys.h"

namespace compare {

// Holds the sizes of a run. Rows take their counts as fractions of it.
struct Scale {
  uint64_t n = 1'000'000;  // keys of the usual data set
  double seconds = 30;     // that rows of latencies last
  uint64_t seed = 42;
  bool compresses = false;
};

constexpr size_t kValueSize = 100;
constexpr size_t kLargeValueSize = 1000;

enum class Unit { kPerSecond, kMicroseconds, kMegabytes };

// Returns true if more is better: for rates. Less is better for everything else.
constexpr bool MoreIsBetter(Unit unit) {
  return unit == Unit::kPerSecond;
}

struct Figure {
  std::string name;  // empty: the row's only one
  Unit unit = Unit::kPerSecond;
  double value = 0;
};

// Runs the work of one row on one library, in its own process.
class Run {
 public:
  // `engine` and `scale` are not owned and must outlive this. `when_measured` is called once, when
  // the measured part ends.
  Run(Engine* engine, std::string path, const Scale& scale, std::function<void()> when_measured);

  Engine& engine() { return engine_; }
  const std::string& path() const { return path_; }
  const Scale& scale() const { return scale_; }

  // Returns the options of all rows at this scale, to which a row adds its own.
  Settings settings() const;
  void Report(std::string name, Unit unit, double value);
  void ReportRate(double operations, double seconds);
  // Ends the measured part; only the first call counts. Later checks of the result count neither
  // for time nor for memory.
  void Measured();
  // Calls Measured(), then reads the whole database for the digest.
  void ReadBack(Digest::Covers covers = Digest::Covers::kWhole);

  // All libraries must agree on it.
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
  bool on_disk = false;  // its database lies in the folder for that; not with a data set
};

// Returns the seconds of a monotonic clock that `work` takes.
double SecondsOf(const std::function<void()>& work);

// Runs `work` once in each of `threads` threads, which begin together, and sums their digests.
// Returns the seconds until the last one ended. If it is only one, it is the caller's thread.
double InThreads(Run* run, int threads, Digest::Covers covers,
                 const std::function<void(int thread, Session* session, Digest* digest)>& work);

std::vector<Row> WriteRows();
std::vector<Row> ReadRows();
std::vector<Row> MissRows();
std::vector<Row> MixRows();
std::vector<Row> LatencyRows();
std::vector<Row> MovingRows();
std::vector<Row> LargeRows();
std::vector<Row> StyleRows();
std::vector<Row> ValueRows();
// Returns all rows in the order in which they are shown. Rows of one data set follow each other.
std::vector<Row> AllRows();

// Returns true if one of the comma-separated patterns is the row's name or its first parts, or if
// there are no patterns.
bool IsWanted(std::string_view name, std::string_view patterns);

}  // namespace compare
