// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts the background work of an engine.

#include <functional>
#include <string>

#include "db/background/statistics_noter.h"

namespace varve {

class DB;
struct Engine;

// Callbacks for statistics, called at intervals without a lock.
struct Telling {
  // Returns the text for the LOG. If this function is empty, nothing is logged, and no file becomes
  // due by its age.
  std::function<std::string()> statistics;
  StatisticsNoter::Store store;  // See StatisticsNoter::Start.
};

// Starts background work. Listeners get `db`, which may be null.
void StartBackgroundWork(Engine* engine, DB* db, Telling telling);

}  // namespace varve
