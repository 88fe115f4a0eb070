// SPDX-License-Identifier: Apache-2.0
#pragma once

// Corrects the checksums of damaged files, so that the parsers meet the damage.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/table.h"

namespace varve::testing {

// The positions of the checksums of an undamaged file and the bytes they cover.
class Seals {
 public:
  // Finds the blocks of a table. They are adjacent, so each is found by the checksum after it.
  static Seals OfTable(const std::string& bytes);
  // Finds the records of a log or MANIFEST whose first bytes are sound.
  static Seals OfLog(const std::string& bytes);

  [[nodiscard]] size_t count() const { return pieces_.size(); }
  // Corrects the checksum after a change at `at`. Returns false if no checksum covers that byte, or
  // if it belongs to a checksum.
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
