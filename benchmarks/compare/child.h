// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two sides of a process that measures. Each row of each library in each round gets one of its
// own, so that its peak of memory is its own, two libraries with the same symbols never meet, and a
// crash costs one figure. The program starts itself again with words that only it knows; the child
// reports through a pipe.

#include <string>
#include <vector>

#include "benchmarks/compare/peers.h"
#include "benchmarks/compare/row.h"

namespace compare {

// What became of one row in one process.
struct Sample {
  std::string row;
  bool skipped = false;   // the engine cannot do it
  bool finished = false;  // else the process ended before, or was never asked
  std::vector<Figure> figures;
  std::string answers;  // a digest as text
  // Peaks in MB until the row was measured: memory that is the process's own, and with the pages of
  // mapped files.
  double own_mb = 0;
  double resident_mb = 0;
};

// Folders of one library: data sets that it has built, and a place for a row to work in.
struct Folders {
  std::string sets;
  std::string work;
};

// The parent's side. Each starts a process and waits for its end.
// The library's name and version, or "" if it cannot be loaded.
std::string Identify(const Contender& library, const std::string& scratch);
// Builds what `row` begins with, unless that is there; false if that failed.
bool Prepare(const Contender& library, const Row& row, const Folders& folders, const Scale& scale);
// One sample for each row. More than one row is for tests, which have no use for memory's peaks.
std::vector<Sample> RunRows(const Contender& library, const std::vector<Row>& rows,
                            const Folders& folders, const Scale& scale);

// The child's side: if this process was started as a child, does what it is for and ends it.
void BeChildIfStartedAsOne(int argc, char** argv);

}  // namespace compare
