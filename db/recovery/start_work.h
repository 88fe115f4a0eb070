// SPDX-License-Identifier: Apache-2.0
#pragma once

// The start of what an engine does with nobody asking.

#include <functional>
#include <string>

#include "db/background/statistics_noter.h"

namespace varve {

class DB;
struct Engine;

// What is told of an open database at intervals. Both are called without a lock.
struct Telling {
  // Makes the text for the LOG; empty: nothing is told, and no file becomes due by age.
  std::function<std::string()> statistics;
  StatisticsNoter::Store store;
};

// Lets background work begin. Listeners are given `db`, which may be null.
void StartBackgroundWork(Engine* engine, DB* db, Telling telling);

}  // namespace varve
