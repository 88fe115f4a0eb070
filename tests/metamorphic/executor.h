// SPDX-License-Identifier: Apache-2.0
#pragma once

// Somebody who plays histories on a database.

#include <string>

#include "tests/metamorphic/history.h"
#include "tests/metamorphic/model.h"

namespace varve::testing {

class Executor {
 public:
  virtual ~Executor() = default;
  // Lines that it does not know are passed over: they must change no answer.
  virtual bool Knows(const Line& /*line*/) const { return true; }
  // The answer; errors as text that no model answers. `model` is as it was before the line.
  virtual std::string Do(const Line& line, const Model& model) = 0;
};

}  // namespace varve::testing
