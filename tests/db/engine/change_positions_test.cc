// SPDX-License-Identifier: Apache-2.0

// Goal: the list of named positions stays as small as a MANIFEST can bear. Method: it is filled.

#include "db/engine/change_positions.h"

#include <gtest/gtest.h>

#include <string>

namespace varve {
namespace {

TEST(ChangePositionsTest, OneTooManyIsRefused) {
  LogSet logs(/*use_fsync=*/false);
  ChangePositions positions;
  ChangePosition position;
  for (size_t i = 0; i < kChangePositionsMax; i++) {
    position.name = std::to_string(i);
    ASSERT_TRUE(positions.Add(position, &logs, 0).ok()) << i;
  }
  position.name = "more";
  EXPECT_TRUE(positions.Add(position, &logs, 0).IsInvalidArgument());
  EXPECT_TRUE(positions.Claim("more", &position).IsNotFound());
  positions.Remove("7");
  position.name = "more";
  EXPECT_TRUE(positions.Add(position, &logs, 0).ok());
}

}  // namespace
}  // namespace varve
