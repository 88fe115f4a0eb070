// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the interface of a player that runs histories on a database.

#include <string>

#include "tests/metamorphic/history.h"
#include "tests/metamorphic/model.h"

namespace varve::testing {

class Executor {
 public:
  virtual ~Executor() = default;
  // Returns true if the executor supports the line. Unsupported lines are skipped: they must change
  // no answer.
  virtual bool Knows(const Line& /*line*/) const { return true; }
  // Returns the answer. Errors become a text that no model answers. `model` is in the state before
  // the line.
  virtual std::string Do(const Line& line, const Model& model) = 0;
};

}  // namespace varve::testing
