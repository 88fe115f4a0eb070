// SPDX-License-Identifier: Apache-2.0

// Computes the 16 bytes that identify a file from its session id and database id.

#include "table/format/unique_id.h"

#include "util/coding/fixed.h"
#include "util/coding/hash.h"

namespace varve {
namespace {

// The last kLowDigits digits are one number, those before them another.
constexpr size_t kLowDigits = 12;
constexpr size_t kMinDigits = kLowDigits + 1;
constexpr size_t kMaxDigits = 2 * kLowDigits;
constexpr uint64_t kLow62Bits = ~uint64_t{0} >> 2;

// Parses at most 12 base-36 digits of either case; the value is below 2^63.
bool ParseBase36(const Slice& digits, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < digits.size(); i++) {
    const char c = digits[i];
    uint64_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint64_t>(c - '0');
    } else if (c >= 'A' && c <= 'Z') {
      digit = static_cast<uint64_t>(c - 'A') + 10;
    } else if (c >= 'a' && c <= 'z') {
      digit = static_cast<uint64_t>(c - 'a') + 10;
    } else {
      return false;
    }
    result = result * 36 + digit;
  }
  *value = result;
  return true;
}

}  // namespace

Status DecodeSessionId(const Slice& session_id, uint64_t* upper, uint64_t* lower) {
  uint64_t high = 0;
  uint64_t low = 0;
  const size_t size = session_id.size();
  if (size < kMinDigits || size > kMaxDigits ||
      !ParseBase36(Slice(session_id.data(), size - kLowDigits), &high) ||
      !ParseBase36(Slice(session_id.data() + size - kLowDigits, kLowDigits), &low)) {
    return Status::NotSupported("session id is not 13 to 24 base-36 digits", session_id);
  }
  // The low digits give 62 bits (12 digits have a few values more, whose top bit is cut off), the
  // high digits all bits above.
  *upper = high >> 2;
  *lower = (low & kLow62Bits) | (high << 62);
  return Status::OK();
}

// The first half identifies the session, the second one the database and the file. Without a number
// or an id a table has no identity, and is then not compared with the MANIFEST's.
std::string TableUniqueId(const Slice& db_id, const Slice& session_id, uint64_t file_number) {
  uint64_t upper = 0;
  uint64_t lower = 0;
  if (db_id.empty() || file_number == 0 || !DecodeSessionId(session_id, &upper, &lower).ok()) {
    return std::string();
  }
  const uint64_t db = XXH3Hash128(db_id.data(), db_id.size(), upper).high;
  std::string id;
  PutFixed64(&id, lower);
  PutFixed64(&id, db ^ file_number);
  return id;
}

}  // namespace varve
