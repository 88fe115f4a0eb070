// SPDX-License-Identifier: Apache-2.0

// Goal: a prepared transaction is remembered, and its log kept, from its record to the decision.
// Method: records of logs of this and of an earlier opening are given to an empty assembler.

#include "db/follow/transaction_assembler.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "varve/write_batch.h"

#include "db/write/two_phase_records.h"
#include "util/coding/fixed.h"

namespace varve {
namespace {

class TransactionAssemblerTest : public ::testing::Test {
 protected:
  TransactionAssemblerTest() { EXPECT_TRUE(updates_.Put("k", "v").ok()); }

  std::string Prepared(bool again = false) const {
    return MakePrepareRecord(updates_, "t", again).Data();
  }
  static std::string Committed() { return MakeCommitRecord(WriteBatch(), "t").Data(); }
  // Returns the number of updates that the record brings, or the error.
  std::string UpdatesOf(const std::string& record) const {
    std::string batch;
    std::set<std::string> missing;
    const Status s = assembler_.Assemble(record, wal::TimestampSizes(), &batch, &missing);
    return s.ok() ? std::to_string(DecodeFixed32(batch.data() + 8)) : s.ToString();
  }

  WriteBatch updates_;
  TransactionAssembler assembler_;
};

TEST_F(TransactionAssemblerTest, ADecisionReleasesTheLog) {
  assembler_.Apply(Prepared(), 3, /*recovered=*/false);
  assembler_.Apply(Prepared(/*again=*/true), 4, /*recovered=*/false);
  EXPECT_EQ(assembler_.OldestLog(), 4u);
  EXPECT_EQ(UpdatesOf(Committed()), "1");
  assembler_.Apply(Committed(), 5, /*recovered=*/false);
  EXPECT_EQ(assembler_.OldestLog(), UINT64_MAX);
  EXPECT_NE(UpdatesOf(Committed()).find("prepared transaction 't'"), std::string::npos);
}

TEST_F(TransactionAssemblerTest, ACopyBehindTheDecisionDoesNotCount) {
  assembler_.Apply(Prepared(), 3, /*recovered=*/true);
  assembler_.Apply(Committed(), 3, /*recovered=*/true);
  assembler_.Apply(Prepared(/*again=*/true), 4, /*recovered=*/true);
  EXPECT_EQ(assembler_.OldestLog(), UINT64_MAX);
  // Its writer believed that the first decision had failed, and made a second one.
  EXPECT_EQ(UpdatesOf(Committed()), "0");
  // Another transaction may have the name.
  assembler_.Apply(Prepared(), 5, /*recovered=*/true);
  EXPECT_EQ(assembler_.OldestLog(), 5u);
  EXPECT_EQ(UpdatesOf(Committed()), "1");
}

// The assembler begins behind the decision, so it cannot know that the copy does not count.
TEST_F(TransactionAssemblerTest, AnOpeningRepeatsWhatIsUndecided) {
  assembler_.Apply(Prepared(/*again=*/true), 4, /*recovered=*/true);
  EXPECT_EQ(assembler_.OldestLog(), 4u);
  assembler_.Restart();
  EXPECT_EQ(assembler_.OldestLog(), UINT64_MAX);
  assembler_.Apply(Prepared(/*again=*/true), 5, /*recovered=*/false);
  EXPECT_EQ(assembler_.OldestLog(), 5u);
  EXPECT_EQ(UpdatesOf(Committed()), "1");
}

// A record of a group of writers may commit several transactions, all of which are named at once.
TEST_F(TransactionAssemblerTest, EachTransactionThatIsMissingIsNamed) {
  // The header of a batch has 12 bytes; what follows of the second record is its mark.
  const std::string record = Committed() + MakeCommitRecord(WriteBatch(), "u").Data().substr(12);
  std::string batch;
  std::set<std::string> missing;
  EXPECT_TRUE(assembler_.Assemble(record, wal::TimestampSizes(), &batch, &missing).IsNotFound());
  EXPECT_EQ(missing, (std::set<std::string>{"t", "u"}));
  TransactionAssembler earlier;
  earlier.Apply(Prepared(), 3, /*recovered=*/false);
  earlier.Apply(MakePrepareRecord(updates_, "u").Data(), 4, /*recovered=*/false);
  for (const std::string& name : missing) EXPECT_TRUE(assembler_.TakeFrom(&earlier, name)) << name;
  EXPECT_TRUE(assembler_.Assemble(record, wal::TimestampSizes(), &batch, &missing).ok());
  EXPECT_EQ(missing, std::set<std::string>());
  EXPECT_EQ(DecodeFixed32(batch.data() + 8), 2u);
}

}  // namespace
}  // namespace varve
