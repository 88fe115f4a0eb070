// SPDX-License-Identifier: Apache-2.0

// Goal: room for descriptors is made without keeping any, whatever the limit is. Method: the lowest
// free number before and after.

#include "util/env/posix_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace varve {
namespace {

int LowestFree() {
  const PosixFd fd(OpenRetrying("/dev/null", O_RDONLY | O_CLOEXEC, 0));
  return fd.get();
}

TEST(PosixFdTest, ReservedDescriptorsAreNotKept) {
  const int before = LowestFree();
  ReserveDescriptors(500);
  EXPECT_EQ(LowestFree(), before);
  EXPECT_LT(fcntl(before + 500, F_GETFD), 0);
}

TEST(PosixFdTest, MoreThanTheLimitIsNoError) {
  struct rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  struct rlimit low = limit;
  low.rlim_cur = static_cast<rlim_t>(LowestFree()) + 10;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const int before = LowestFree();
  ReserveDescriptors(SIZE_MAX / 2);
  EXPECT_EQ(LowestFree(), before);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

}  // namespace
}  // namespace varve
