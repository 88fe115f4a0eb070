// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two sides of a measuring process. Each row of each library in each round gets a process, so
// that its peak of memory is its own, two libraries with the same symbols never meet, and a crash
// costs one figure. The program starts itself again with words that only it knows; the child
// reports through a pipe.

#include <string>
#include <vector>

#include "benchmarks/compare/peers.h"
#include "benchmarks/compare/row.h"

namespace compare {

// Holds the result of one row in one process.
struct Sample {
  std::string row;
  bool skipped = false;   // the engine cannot do it
  bool finished = false;  // else the process ended before, or was never asked
  std::vector<Figure> figures;
  std::string answers;  // a digest as text
  // Peaks in MB until the row was measured: private memory, and memory with the pages of mapped
  // files.
  double own_mb = 0;
  double resident_mb = 0;
};

// Folders of one library: the data sets that it has built, and the working folders of a row, the
// second for a row on a disk.
struct Folders {
  std::string sets;
  std::string work;
  std::string disk;
};

// The functions of the parent's side. Each starts a process and waits for its end.
// Identify() returns the library's name and version, or "" if it cannot be loaded.
std::string Identify(const Contender& library, const std::string& scratch);
// Builds the data set that `row` begins with, unless it exists. Returns false if that failed.
bool Prepare(const Contender& library, const Row& row, const Folders& folders, const Scale& scale);
// Returns one sample for each row. Only tests pass more than one row, as they ignore memory peaks.
std::vector<Sample> RunRows(const Contender& library, const std::vector<Row>& rows,
                            const Folders& folders, const Scale& scale);

// The child's side: if this process was started as a child, does the child's task and exits.
void BeChildIfStartedAsOne(int argc, char** argv);

}  // namespace compare
