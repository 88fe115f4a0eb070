// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the main function of every driver: it runs the script that its argument names.

#include <cstdio>
#include <fstream>

namespace interop {

// Returns 2 if there is no such script, otherwise the result of Driver::Run.
template <typename Driver>
int RunScriptFile(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s SCRIPT\n", argv[0]);
    return 2;
  }
  std::ifstream script(argv[1]);
  if (!script) {
    fprintf(stderr, "%s: cannot be read\n", argv[1]);
    return 2;
  }
  return Driver().Run(script);
}

}  // namespace interop
