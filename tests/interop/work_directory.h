// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the directory in which the programs of a test run.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace varve::testing {

// The directory is empty when a test begins, and is removed when it ends.
class WorkDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(work_);
    std::filesystem::create_directories(work_);
  }
  void TearDown() override { std::filesystem::remove_all(work_); }

  const std::filesystem::path work_ =
      std::filesystem::temp_directory_path() /
      ("varve_" + std::string(::testing::UnitTest::GetInstance()->current_test_suite()->name()) +
       std::to_string(getpid()));
};

}  // namespace varve::testing
