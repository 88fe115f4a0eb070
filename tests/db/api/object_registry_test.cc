// SPDX-License-Identifier: Apache-2.0

// Goal: names of the program's own classes make objects in options text and from OPTIONS files;
// patterns match what they say; what a factory gets wrong is an error that changes nothing.

#include "varve/utilities/object_registry.h"

#include <gmock/gmock.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/comparator.h"
#include "varve/convenience.h"
#include "varve/filter_policy.h"
#include "varve/merge_operator.h"
#include "varve/slice_transform.h"
#include "varve/sst_partitioner.h"
#include "varve/utilities/options_util.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using PatternEntry = ObjectLibrary::PatternEntry;

// Keeps the longest operand.
class Longest final : public AssociativeMergeOperator {
 public:
  explicit Longest(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    const bool keeps = existing != nullptr && existing->size() > value.size();
    *result = (keeps ? *existing : value).ToString();
    return true;
  }

 private:
  const std::string name_;
};

class Keeps final : public CompactionFilter {
 public:
  const char* Name() const override { return "keeps"; }
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override { return false; }
};

class EndsNowhere final : public SstPartitionerFactory {
 public:
  const char* Name() const override { return "ends nowhere"; }
  std::unique_ptr<SstPartitioner> CreatePartitioner(const SstPartitioner::Context&) const override {
    return nullptr;
  }
};

MergeOperator* MakeLongest(const std::string& id, std::unique_ptr<MergeOperator>* guard,
                           std::string*) {
  *guard = std::make_unique<Longest>(id);
  return guard->get();
}

// A configuration of its own knows what is added to it alone.
ConfigOptions Strict() {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  return config;
}

Status Parse(const ConfigOptions& config, const std::string& text, ColumnFamilyOptions* options) {
  return GetColumnFamilyOptionsFromString(config, ColumnFamilyOptions(), text, options);
}

TEST(PatternEntryTest, MatchesWhatItSays) {
  const PatternEntry name("a.b");
  EXPECT_TRUE(name.Matches("a.b"));
  EXPECT_FALSE(name.Matches("a.bc"));
  EXPECT_FALSE(name.Matches("a.c"));
  EXPECT_FALSE(name.Matches(""));

  PatternEntry any("n");
  any.AddSeparator(":", false);
  EXPECT_TRUE(any.Matches("n"));
  EXPECT_TRUE(any.Matches("n:"));
  EXPECT_TRUE(any.Matches("n::x"));
  EXPECT_FALSE(any.Matches("nx"));

  PatternEntry some("n", /*optional=*/false);
  some.AddSeparator(":").AnotherName("other");
  EXPECT_FALSE(some.Matches("n"));
  EXPECT_FALSE(some.Matches("n:"));
  EXPECT_TRUE(some.Matches("n:x"));
  EXPECT_TRUE(some.Matches("other:x"));
  EXPECT_TRUE(some.SetOptional(true).Matches("other"));

  PatternEntry number("n", false);
  number.AddNumber(":").AddNumber("/", false).AddSuffix("!");
  EXPECT_TRUE(number.Matches("n:-12/3.5!"));
  EXPECT_TRUE(number.Matches("n:12/-3!"));
  EXPECT_FALSE(number.Matches("n:1.2/3!"));
  EXPECT_FALSE(number.Matches("n:/3!"));
  EXPECT_FALSE(number.Matches("n:1/3."));
  EXPECT_FALSE(number.Matches("n:1/.5!"));
  EXPECT_FALSE(number.Matches("n:1/3!!"));

  // Here one separator occurs in the text before another.
  PatternEntry twice("n", false);
  twice.AddSeparator(":").AddSuffix("::");
  EXPECT_TRUE(twice.Matches("n:::::"));
  EXPECT_FALSE(twice.Matches("n:::"));

  const PatternEntry individual = PatternEntry::AsIndividualId("n");
  EXPECT_TRUE(individual.Matches("n"));
  EXPECT_TRUE(individual.Matches("n@0x12#345"));
  EXPECT_FALSE(individual.Matches("n@0x12"));
  EXPECT_FALSE(individual.Matches("n@#1"));
}

TEST(ObjectLibraryTest, TellsWhatItHas) {
  ObjectLibrary library("mine");
  EXPECT_EQ(library.GetID(), "mine");
  size_t types = 9;
  EXPECT_EQ(library.GetFactoryCount(&types), 0u);
  EXPECT_EQ(types, 0u);
  EXPECT_FALSE(library.FindFactory<MergeOperator>("x"));
  library.AddFactory<MergeOperator>("x", &MakeLongest);
  library.AddFactory<MergeOperator>(PatternEntry("y").AddNumber(":"), &MakeLongest);
  library.AddFactory<const Comparator>(
      "z", [](const std::string&, std::unique_ptr<const Comparator>*, std::string*) {
        return BytewiseComparator();
      });
  EXPECT_EQ(library.GetFactoryCount(&types), 3u);
  EXPECT_EQ(types, 2u);
  EXPECT_EQ(library.GetFactoryCount("MergeOperator"), 2u);
  std::unordered_set<std::string> names;
  library.GetFactoryNames("MergeOperator", &names);
  EXPECT_THAT(names, UnorderedElementsAre("x", "y"));
  std::unordered_set<std::string> classes;
  library.GetFactoryTypes(&classes);
  EXPECT_THAT(classes, UnorderedElementsAre("MergeOperator", "Comparator"));
  // The two classes are told apart.
  EXPECT_FALSE(library.FindFactory<Comparator>("z"));
  EXPECT_TRUE(library.FindFactory<const Comparator>("z"));
}

TEST(ObjectRegistryTest, TheLatestLibraryIsAskedFirstThenTheParent) {
  const auto named = [](const char* name) {
    return [name](const std::string&, std::unique_ptr<MergeOperator>* guard, std::string*) {
      *guard = std::make_unique<Longest>(name);
      return guard->get();
    };
  };
  const auto parent = ObjectRegistry::NewInstance();
  parent->AddLibrary("p")->AddFactory<MergeOperator>("op", named("of the parent"));
  const auto child = ObjectRegistry::NewInstance(parent);
  std::shared_ptr<MergeOperator> made;
  ASSERT_TRUE(child->NewSharedObject("op", &made).ok());
  EXPECT_STREQ(made->Name(), "of the parent");
  child->AddLibrary("c1")->AddFactory<MergeOperator>("op", named("first"));
  child->AddLibrary(
      "c2",
      [&](ObjectLibrary& library, const std::string& arg) {
        library.AddFactory<MergeOperator>(arg, named("second"));
        return 1;
      },
      "op");
  ASSERT_TRUE(child->NewSharedObject("op", &made).ok());
  EXPECT_STREQ(made->Name(), "second");
  EXPECT_EQ(child->GetFactoryCount("MergeOperator"), 3u);
  EXPECT_EQ(ObjectRegistry::Default()->GetFactoryCount("MergeOperator"), 0u);
}

TEST(ObjectRegistryTest, WhoOwnsWhatHasToFit) {
  const auto registry = ObjectRegistry::NewInstance();
  const auto library = registry->AddLibrary("l");
  library->AddFactory<MergeOperator>("owned", &MakeLongest);
  static Longest forever("forever");
  library->AddFactory<MergeOperator>(
      "static", [](const std::string&, std::unique_ptr<MergeOperator>*, std::string*) {
        return static_cast<MergeOperator*>(&forever);
      });
  library->AddFactory<MergeOperator>(
      "fails", [](const std::string&, std::unique_ptr<MergeOperator>*, std::string* message) {
        *message = "no luck";
        return static_cast<MergeOperator*>(nullptr);
      });
  std::shared_ptr<MergeOperator> shared;
  std::unique_ptr<MergeOperator> unique;
  MergeOperator* bare = nullptr;
  EXPECT_TRUE(registry->NewSharedObject("owned", &shared).ok());
  EXPECT_TRUE(registry->NewUniqueObject("owned", &unique).ok());
  EXPECT_TRUE(registry->NewStaticObject("owned", &bare).IsInvalidArgument());
  EXPECT_EQ(bare, nullptr);
  EXPECT_TRUE(registry->NewStaticObject("static", &bare).ok());
  EXPECT_EQ(bare, &forever);
  EXPECT_TRUE(registry->NewUniqueObject("static", &unique).IsInvalidArgument());
  EXPECT_TRUE(unique != nullptr);
  const Status s = registry->NewSharedObject("fails", &shared);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("no luck"));
  EXPECT_TRUE(registry->NewSharedObject("unknown", &shared).IsNotSupported());
}

TEST(ObjectRegistryTest, OptionsTextMayNameWhatIsRegistered) {
  const ConfigOptions config = Strict();
  const auto library = config.registry->AddLibrary("test");
  static const Keeps keeps;
  library->AddFactory<MergeOperator>(PatternEntry("longest").AddNumber("."), &MakeLongest);
  library->AddFactory<const CompactionFilter>(
      "keeps", [](const std::string&, std::unique_ptr<const CompactionFilter>*, std::string*) {
        return static_cast<const CompactionFilter*>(&keeps);
      });
  library->AddFactory<const SliceTransform>(
      "three", [](const std::string&, std::unique_ptr<const SliceTransform>* guard, std::string*) {
        guard->reset(NewFixedPrefixTransform(3));
        return guard->get();
      });
  library->AddFactory<SstPartitionerFactory>(
      "ends", [](const std::string&, std::unique_ptr<SstPartitionerFactory>* guard, std::string*) {
        *guard = std::make_unique<EndsNowhere>();
        return guard->get();
      });
  library->AddFactory<Comparator>(
      "mine", [](const std::string&, std::unique_ptr<Comparator>*, std::string*) {
        return const_cast<Comparator*>(ReverseBytewiseComparator());
      });
  ColumnFamilyOptions options;
  const Status s = Parse(config,
                         "merge_operator=longest.7;compaction_filter=keeps;prefix_extractor=three;"
                         "sst_partitioner_factory={id=ends};comparator=mine",
                         &options);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_STREQ(options.merge_operator->Name(), "longest.7");
  EXPECT_EQ(options.compaction_filter, &keeps);
  EXPECT_EQ(options.prefix_extractor->Transform("abcdef").ToString(), "abc");
  EXPECT_NE(options.sst_partitioner_factory, nullptr);
  EXPECT_EQ(options.comparator, ReverseBytewiseComparator());
  // Other registries do not know them.
  EXPECT_TRUE(Parse(Strict(), "merge_operator=longest.7", &options).IsNotSupported());
  ConfigOptions without = Strict();
  without.registry = nullptr;
  EXPECT_TRUE(Parse(without, "merge_operator=longest.7", &options).IsNotSupported());
  EXPECT_TRUE(Parse(without, "merge_operator=put", &options).ok());
}

TEST(ObjectRegistryTest, AFactoryThatThrowsIsAnError) {
  const ConfigOptions config = Strict();
  config.registry->AddLibrary("test")->AddFactory<MergeOperator>(
      "throws",
      [](const std::string&, std::unique_ptr<MergeOperator>*, std::string*) -> MergeOperator* {
        throw std::runtime_error("thrown");
      });
  ColumnFamilyOptions options;
  options.merge_operator = std::make_shared<Longest>("old");
  const Status s = Parse(config, "merge_operator=throws", &options);
  EXPECT_FALSE(s.ok());
  EXPECT_THAT(s.ToString(), HasSubstr("thrown"));
  EXPECT_STREQ(options.merge_operator->Name(), "old");
}

TEST(ObjectRegistryTest, ThreadsAddAndFind) {
  const auto registry = ObjectRegistry::NewInstance();
  const auto library = registry->AddLibrary("l");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; i++) {
        const std::string name = std::to_string(t) + "-" + std::to_string(i);
        library->AddFactory<MergeOperator>(name, &MakeLongest);
        std::shared_ptr<MergeOperator> made;
        ASSERT_TRUE(registry->NewSharedObject(name, &made).ok());
        registry->AddLibrary(name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(registry->GetFactoryCount("MergeOperator"), 400u);
}

class RegisteredTest : public Database {};

// A database whose classes are known by their names can be opened with the options it had.
TEST_F(RegisteredTest, OptionsFilesGiveBackObjects) {
  options_.merge_operator = std::make_shared<Longest>("longest");
  Open();
  ASSERT_TRUE(db()->Merge(WriteOptions(), "k", "a").ok());
  ASSERT_TRUE(db()->Merge(WriteOptions(), "k", "abc").ok());
  ASSERT_TRUE(Close().ok());
  ConfigOptions config = Strict();
  config.env = options_.env;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  EXPECT_TRUE(LoadLatestOptions(config, kName, &db_options, &families).IsNotSupported());
  config.registry->AddLibrary("test")->AddFactory<MergeOperator>("longest", &MakeLongest);
  const Status s = LoadLatestOptions(config, kName, &db_options, &families);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_EQ(families.size(), 1u);
  options_.merge_operator = families[0].options.merge_operator;
  ASSERT_NE(options_.merge_operator, nullptr);
  Open();
  EXPECT_EQ(Get("k"), "abc");
}

}  // namespace
}  // namespace varve::testing
