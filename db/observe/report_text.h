// SPDX-License-Identifier: Apache-2.0
#pragma once

// Formats lines of texts for users.

#include <cstdarg>
#include <cstdio>
#include <string>

namespace varve {

// Like printf, appending to *out. Cuts a line that is longer than half a kilobyte.
inline void AppendF(std::string* out, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
inline void AppendF(std::string* out, const char* format, ...) {
  char line[512];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  out->append(line);
}

}  // namespace varve
