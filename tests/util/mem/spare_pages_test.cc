// SPDX-License-Identifier: Apache-2.0

// Goal: pages are ready soon after a thread wanted them, no more than that, and a child of fork()
// goes on without. Method: a set of them of the test's own, beside the one of the process.

#include "util/mem/spare_pages.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "util/mem/huge_pages.h"

namespace varve {
namespace {

// Returns null after some seconds.
char* TakeSoon(SparePages* spares) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  char* page = spares->Take();
  while (page == nullptr && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    page = spares->Take();
  }
  return page;
}

TEST(SparePagesTest, TheyAreReadyWhenTheyWereWanted) {
  SparePages& spares = SparePages::Default();
  spares.Refill(0);
  while (char* const page = spares.Take()) FreePages(page, kHugePageBytes);
  EXPECT_EQ(spares.Take(), nullptr);
  for (int round = 0; round < 3; round++) {
    spares.Refill(SparePages::kMost);
    char* const page = TakeSoon(&spares);
    ASSERT_NE(page, nullptr);
    std::memset(page, 'x', kHugePageBytes);
    FreePages(page, kHugePageBytes);
  }
  spares.Refill(0);
  char* const page = AllocateHugePages(kHugePageBytes);
  EXPECT_FALSE(spares.Give(page)) << "nobody wants it";
  FreePages(page, kHugePageBytes);
}

TEST(SparePagesTest, PagesThatAreNotWantedAnyMoreAreHandedOut) {
  SparePages& spares = SparePages::Default();
  while (char* const page = spares.TakeSurplus(0)) FreePages(page, kHugePageBytes);
  char* surplus = nullptr;
  for (int i = 0; i < 400 && surplus == nullptr; i++) {
    spares.Refill(2);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    surplus = spares.TakeSurplus(1);
  }
  ASSERT_NE(surplus, nullptr);
  FreePages(surplus, kHugePageBytes);
  EXPECT_EQ(spares.TakeSurplus(1), nullptr);
  char* const last = spares.TakeSurplus(0);
  ASSERT_NE(last, nullptr);
  FreePages(last, kHugePageBytes);
  EXPECT_EQ(spares.Take(), nullptr);
}

#ifndef __SANITIZE_THREAD__  // it does not follow a process of several threads through fork()

TEST(SparePagesTest, AChildOfForkGoesOnWithout) {
  SparePages& spares = SparePages::Default();
  spares.Refill(1);
  char* const page = TakeSoon(&spares);
  ASSERT_NE(page, nullptr);
  FreePages(page, kHugePageBytes);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    while (spares.Take() != nullptr) {
    }
    spares.Refill(1);
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  spares.Refill(0);
}

#endif

}  // namespace
}  // namespace varve
