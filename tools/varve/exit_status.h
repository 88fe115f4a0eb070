// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the exit statuses of the program, which scripts rely on.

namespace varve::tool {

enum ExitStatus : int {
  kGood = 0,
  kFound = 1,       // Damage was found, or a difference, or a key that was asked for is absent.
  kWrongUse = 2,    // The command line is wrong, or a permission (--write, --yes) is missing.
  kNoDatabase = 3,  // The database is absent, or another process has it open for writing.
  kFailed = 4,      // The system failed (a full disk, say), or Varve lacks what the files need.
};

}  // namespace varve::tool
