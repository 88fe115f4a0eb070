// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the objects that options can share, one row each: how a program gives one, where it finds
// it again, how it sees that the object is used, and what it finds in it when all is over.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "varve/options.h"

namespace varve::testing {

// Holds an object that a program has made.
struct SharedObject {
  std::shared_ptr<const void> object;
  // Counts uses of the object; null if it cannot be asked.
  std::function<uint64_t()> used;
  // Returns what databases hold in it, which is nothing once they are closed and the options are
  // gone; null if it cannot be asked.
  std::function<uint64_t()> held;
};

struct ObjectRow {
  std::string member;  // "Struct::member" of the public headers
  // Makes an object and puts it into the options.
  std::function<SharedObject(Options*)> give;
  // Returns the object that these options point to.
  std::function<const void*(const Options&)> find;
};

std::vector<ObjectRow> ObjectRows();

}  // namespace varve::testing
