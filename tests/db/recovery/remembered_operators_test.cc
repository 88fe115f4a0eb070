// SPDX-License-Identifier: Apache-2.0

// Goal: operands are never handed to an operator of another name by mistake. Method: databases are
// opened with one operator, then with another, with none, and after their memory was lost.

#include <gmock/gmock.h>

#include "varve/merge_operator.h"

#include "db/column_family/column_family.h"
#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class NamedOperator final : public MergeOperator {
 public:
  explicit NamedOperator(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  bool FullMergeV2(const MergeOperationInput&, MergeOperationOutput*) const override {
    return true;
  }

 private:
  const std::string name_;
};

class RememberedOperatorsTest : public Database {
 protected:
  // Opens with a family beside the default one; an empty name: no operator.
  Status Try(const std::string& name, bool allow = false) {
    EXPECT_TRUE(Close().ok());
    return TryOpenWith({{"default", options_}, {"other", With(name, allow)}});
  }
  ColumnFamilyOptions With(const std::string& name, bool allow) const {
    ColumnFamilyOptions options(options_);
    if (!name.empty()) options.merge_operator = std::make_shared<NamedOperator>(name);
    options.allow_other_merge_operator = allow;
    return options;
  }
  std::string Remembered() {
    return static_cast<ColumnFamilyHandleImpl*>(Handle("other"))
        ->family()
        ->remembered_merge_operator();
  }
  // Returns every file of the directory, but for the LOG.
  std::map<std::string, std::string> Everything() {
    std::map<std::string, std::string> files;
    std::vector<std::string> names;
    EXPECT_TRUE(mem().GetChildren(kName, IOOptions(), &names, nullptr).ok());
    for (const std::string& name : names) {
      if (name.find("LOG") != 0) files[name] = ReadFile(std::string(kName) + "/" + name);
    }
    return files;
  }
};

TEST_F(RememberedOperatorsTest, AnotherNameIsRefusedAndChangesNothing) {
  ASSERT_TRUE(Try("first").ok());
  Put("k", "v", "other");
  ASSERT_TRUE(Close().ok());
  const auto before = Everything();
  const Status s = Try("second");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  for (const char* part : {"other", "first", "second", "allow_other_merge_operator"}) {
    EXPECT_THAT(s.ToString(), HasSubstr(part));
  }
  EXPECT_TRUE(Everything() == before);
  ASSERT_TRUE(Try("first").ok());
  EXPECT_EQ(Get("k", "other"), "v");
}

TEST_F(RememberedOperatorsTest, ReadOnlyOpenersAreRefusedToo) {
  ASSERT_TRUE(Try("first").ok());
  ASSERT_TRUE(Close().ok());
  options_.merge_operator = std::make_shared<NamedOperator>("second");
  EXPECT_TRUE(TryOpenReadOnly({"default"}).ok());
  ASSERT_TRUE(Close().ok());
  EXPECT_TRUE(TryOpenReadOnly({"default", "other"}).IsInvalidArgument());
}

TEST_F(RememberedOperatorsTest, WithoutAnOperatorTheNameStays) {
  ASSERT_TRUE(Try("first").ok());
  EXPECT_EQ(Remembered(), "first") << "the family was made with it";
  ASSERT_TRUE(db()->Merge(WriteOptions(), Handle("other"), "k", "operand").ok());
  for (int i = 0; i < 2; i++) {
    ASSERT_TRUE(Try("").ok());
    EXPECT_EQ(Remembered(), "first");
    EXPECT_THAT(Get("k", "other"), HasSubstr("it was first"));
  }
  EXPECT_TRUE(Try("second").IsInvalidArgument());
}

TEST_F(RememberedOperatorsTest, ThePermissionChangesWhatIsRemembered) {
  ASSERT_TRUE(Try("first").ok());
  ASSERT_TRUE(Try("second", /*allow=*/true).ok());
  EXPECT_EQ(Remembered(), "first");
  EXPECT_TRUE(Try("first").IsInvalidArgument());
  ASSERT_TRUE(Try("second").ok());
  EXPECT_EQ(Remembered(), "second");
}

TEST_F(RememberedOperatorsTest, AFirstOperatorMayComeLate) {
  ASSERT_TRUE(Try("").ok());
  EXPECT_EQ(Remembered(), "");
  ASSERT_TRUE(Try("late").ok());
  EXPECT_TRUE(Try("later").IsInvalidArgument());
}

TEST_F(RememberedOperatorsTest, CreatedFamiliesAreRememberedAtOnce) {
  Open();
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(With("first", false), "other", &handle).ok());
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(handle).ok());
  EXPECT_TRUE(Try("second").IsInvalidArgument());
  EXPECT_TRUE(Try("first").ok());
}

TEST_F(RememberedOperatorsTest, TheNewestOptionsFileIsAskedWhereTheManifestDoesNotRemember) {
  ASSERT_TRUE(Try("").ok());
  ASSERT_TRUE(Close().ok());
  const auto options_file = [this](const std::string& line) {
    WriteFile(OptionsFileName(kName, 900),
              "[DBOptions]\n[CFOptions \"default\"]\n[CFOptions \"other\"]\n" + line);
  };
  options_file("  merge_operator={id=Foreign;delimiter=,;}\n");
  const Status s = Try("second");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("Foreign"));
  ASSERT_TRUE(Try("").ok());
  EXPECT_EQ(Remembered(), "Foreign");
  ASSERT_TRUE(Close().ok());
  // The MANIFEST has taken it over, and counts for more.
  options_file("  merge_operator=second\n");
  EXPECT_TRUE(Try("second").IsInvalidArgument());
  EXPECT_TRUE(Try("Foreign").ok());
}

TEST_F(RememberedOperatorsTest, AnUnreadableOptionsFileForbidsNothing) {
  ASSERT_TRUE(Try("").ok());
  ASSERT_TRUE(Close().ok());
  WriteFile(OptionsFileName(kName, 900), std::string("[CFOptions \"other\n\0merge_operator=", 34));
  EXPECT_TRUE(Try("any").ok());
}

}  // namespace
}  // namespace varve::testing
