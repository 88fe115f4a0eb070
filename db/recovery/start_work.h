// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts the background work of an engine.

#include <functional>
#include <string>

#include "db/background/statistics_noter.h"

namespace varve {

class DB;
struct Engine;

// Functions for periodic statistics, which are called without locks.
struct Telling {
  // Returns the text for the LOG. If this is empty, there is no periodic work: nothing is logged,
  // and no file becomes due by its age.
  std::function<std::string()> statistics;
  StatisticsNoter::Store store;  // See StatisticsNoter::Start.
};

// Starts the background work of an opened engine. Listeners get `db`, which may be null. Must be
// called at most once.
void StartBackgroundWork(Engine* engine, DB* db, Telling telling);

}  // namespace varve
