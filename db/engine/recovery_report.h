// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes what an opening found in the logs and set aside: the property varve.recovery.

#include <string>
#include <utility>
#include <vector>

#include "varve/listener.h"

namespace varve {

// The opening fills it in; afterwards it does not change.
struct RecoveryReport : RecoveryInfo {
  // Returns names and values, in the order in which they are shown.
  std::vector<std::pair<std::string, std::string>> Fields() const;
  std::string ToString() const;
  // True if nothing was dropped, lost, missing or left behind.
  bool clean() const;
};

}  // namespace varve
