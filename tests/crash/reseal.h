// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the checksums of damaged files right again, so that it is the parsers that meet the damage.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/table.h"

namespace varve::testing {

// Where the checksums of a sound file are and what they cover.
class Seals {
 public:
  // Blocks of a table. They lie one after the other, so each is found by the checksum after it.
  static Seals OfTable(const std::string& bytes);
  // Records of a log or MANIFEST whose first bytes are sound.
  static Seals OfLog(const std::string& bytes);

  [[nodiscard]] size_t count() const { return pieces_.size(); }
  // After a change at `at`. False when no checksum covers that byte, or when it is one itself.
  bool Reseal(std::string* bytes, size_t at) const;

 private:
  // A block with its type byte, or a record's type and contents.
  struct Piece {
    size_t begin = 0;
    size_t end = 0;
  };

  void SealBlock(std::string* bytes, const Piece& piece) const;
  static void SealRecord(std::string* bytes, const Piece& piece);

  bool table_ = false;
  ChecksumType checksum_ = kCRC32c;
  uint32_t context_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace varve::testing
