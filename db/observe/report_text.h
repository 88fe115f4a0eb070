// SPDX-License-Identifier: Apache-2.0
#pragma once

// Formats lines of texts for users, and figures in the units of RocksDB's texts: a GB, MB or KB is
// a power of 1024 there, a K or M of a count a power of 1000.

#include <cinttypes>
#include <cstdarg>
#include <cstdint>
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

// Returns the quotient; 0 for a divisor of 0, as nothing was counted then.
inline double Ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

// Convert to the unit that the name says.
inline double Seconds(uint64_t micros) {
  return static_cast<double>(micros) / 1e6;
}

inline double Mebibytes(uint64_t bytes) {
  return static_cast<double>(bytes) / 1048576.0;
}

inline double Gibibytes(uint64_t bytes) {
  return static_cast<double>(bytes) / 1073741824.0;
}

// Returns a count in at most five digits and a unit: 9999, 12K, 3M, 4G.
inline std::string ShortCount(uint64_t count) {
  constexpr uint64_t kDigits = 10000;
  for (const char* unit = "\0KMG";; unit++) {
    if (count < kDigits || *unit == 'G') {
      std::string out;
      AppendF(&out, "%" PRIu64, count);
      return *unit == '\0' ? out : out + *unit;
    }
    // Rounds down at each step, as RocksDB's texts do.
    count /= 1000;
  }
}

// Returns a size and its unit, with a space between: 0.00 KB, 56.00 MB.
inline std::string SizeAndUnit(uint64_t bytes) {
  double size = static_cast<double>(bytes) / 1024;
  for (const char* unit : {"KB", "MB", "GB"}) {
    if (size < 1024) {
      std::string out;
      AppendF(&out, "%.2f %s", size, unit);
      return out;
    }
    size /= 1024;
  }
  std::string out;
  AppendF(&out, "%.2f TB", size);
  return out;
}

}  // namespace varve
