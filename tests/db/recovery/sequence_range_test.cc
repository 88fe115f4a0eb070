// SPDX-License-Identifier: Apache-2.0

// Goal: a log whose records are whole but number their entries beyond what keys can carry is
// refused, with nothing changed. Method: the number in a killed database's log is overwritten, and
// the record's checksum made right again.

#include "tests/crash/reseal.h"
#include "tests/harness/database.h"

namespace varve::testing {

namespace {

constexpr size_t kSequenceOffset = 7;  // in the first record, after checksum, length and type
constexpr size_t kSequenceBytes = 8;

}  // namespace

class SequenceRangeTest : public Database {
 protected:
  // Opens a database whose only write says that it has this number.
  Status OpenAt(const std::string& sequence) {
    Open();
    Put("a", "1");
    Kill();
    const std::string log = std::string(kName) + "/" + Files(kWalFile).at(0);
    std::string bytes = ReadFile(log);
    const Seals seals = Seals::OfLog(bytes);
    bytes.replace(kSequenceOffset, kSequenceBytes, sequence);
    EXPECT_TRUE(seals.Reseal(&bytes, kSequenceOffset));
    WriteFile(log, bytes);
    return TryOpen();
  }
};

TEST_F(SequenceRangeTest, TheLargestNumbersAreRefused) {
  const Status s = OpenAt(std::string(kSequenceBytes, '\xff'));
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("out of range"), std::string::npos) << s.ToString();
}

TEST_F(SequenceRangeTest, NumbersThatFitAreTaken) {
  std::string sequence(kSequenceBytes, '\0');
  sequence[5] = 1;
  ASSERT_TRUE(OpenAt(sequence).ok());
  EXPECT_EQ(Get("a"), "1");
}

}  // namespace varve::testing
