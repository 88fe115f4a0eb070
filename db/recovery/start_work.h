// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts the background work of an engine.

#include <functional>
#include <string>

#include "db/background/statistics_recorder.h"

namespace varve {

class DB;
struct Engine;

// Functions for periodic statistics, which are called without locks.
struct PeriodicStatistics {
  // Returns the text for the LOG. If this is null, there is no periodic work: nothing is logged,
  // and no file becomes due by its age.
  std::function<std::string()> describe;
  StatisticsRecorder::Store store;  // See StatisticsRecorder::Start.
};

// Starts the background work of an opened engine. Listeners get `db`, which may be null. Must be
// called at most once.
void StartBackgroundWork(Engine* engine, DB* db, PeriodicStatistics statistics);

}  // namespace varve
