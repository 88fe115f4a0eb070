// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lines of the texts that people read.

#include <cstdarg>
#include <cstdio>
#include <string>

namespace varve {

// As printf, at the end of *out. A line that is longer than half a kilobyte is cut.
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
