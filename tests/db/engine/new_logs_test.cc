// SPDX-License-Identifier: Apache-2.0

// Goal: a log that cannot be made leaves everything that is said of the current one as it was.
// Method: a directory has the name of the next log's file.

#include "db/engine/new_logs.h"

#include <gtest/gtest.h>

#include "tests/db/engine/parts_fixture.h"
#include "util/env/file_names.h"

namespace varve {
namespace {

class NewLogsTest : public PartsTest {
 protected:
  NewLogs& new_logs() { return engine_->new_logs; }
};

TEST_F(NewLogsTest, AFailureLeavesTheStampOfTheCurrentLog) {
  DbLock lock(mu());
  const uint64_t before = state().logs->current_number();
  new_logs().NoteStamped();
  const std::string path = LogFileName("/db", state().versions->next_file_number());
  ASSERT_TRUE(env_->CreateDir(path).ok());
  EXPECT_FALSE(new_logs().Start(/*force=*/true).ok());
  EXPECT_EQ(state().logs->current_number(), before);
  EXPECT_TRUE(new_logs().current_stamped());
  // The next log has another number, and no family whose keys have timestamps.
  ASSERT_TRUE(new_logs().Start(/*force=*/true).ok());
  EXPECT_GT(state().logs->current_number(), before);
  EXPECT_FALSE(new_logs().current_stamped());
  EXPECT_TRUE(new_logs().stamped()) << "the old log may still be needed";
}

}  // namespace
}  // namespace varve
