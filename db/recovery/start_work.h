// SPDX-License-Identifier: Apache-2.0
#pragma once

// The start of what an engine does with nobody asking.

#include <functional>
#include <string>

namespace varve {

class DB;
struct Engine;

// Lets background work begin. Listeners are given `db`, which may be null. `statistics` makes the
// text that the LOG is told every so often; empty: nothing is told, and no file becomes due by age.
void StartBackgroundWork(Engine* engine, DB* db, std::function<std::string()> statistics);

}  // namespace varve
