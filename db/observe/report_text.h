// SPDX-License-Identifier: Apache-2.0
#pragma once

// Formats lines of reports, with the units of RocksDB: KB, MB and GB of bytes are powers of 1024,
// and K, M and G of counts are powers of 1000.

#include <cinttypes>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>

namespace varve {

// Appends to *out like printf. Truncates the appended text to 511 bytes.
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

// Returns a / b, or 0 if b is 0.
inline double Ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

// Convert to the unit of the name.
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
