// SPDX-License-Identifier: Apache-2.0
// Goal: text makes objects that are built in, and of the program's classes, with their options;
// what it cannot make is an error that changes nothing. Method: every class with CreateFromString
// that has few kinds, and a listener of a program.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "varve/compaction_filter.h"
#include "varve/convenience.h"
#include "varve/env.h"
#include "varve/file_checksum.h"
#include "varve/file_system.h"
#include "varve/listener.h"
#include "varve/memory_allocator.h"
#include "varve/memtablerep.h"
#include "varve/sst_partitioner.h"
#include "varve/statistics.h"
#include "varve/system_clock.h"
#include "varve/table.h"
#include "varve/table_properties.h"
#include "varve/utilities/object_registry.h"

namespace varve {
namespace {

// Returns the object that the text makes. Requires that this succeeds.
template <typename T>
std::shared_ptr<T> Made(const std::string& text) {
  std::shared_ptr<T> made;
  const Status s = T::CreateFromString(ConfigOptions(), text, &made);
  EXPECT_TRUE(s.ok()) << T::Type() << ": " << text << ": " << s.ToString();
  return made;
}

// Names that are not registered are reported, and leave `object` as it is.
template <typename T>
void RefusesUnknownNames(std::shared_ptr<T> object) {
  const std::shared_ptr<T> before = object;
  for (const char* text : {"unknown", "id=unknown;a=1", "{id=unknown}", "a=1;b"}) {
    const Status s = T::CreateFromString(ConfigOptions(), text, &object);
    EXPECT_TRUE(s.IsNotSupported()) << T::Type() << ": " << text << ": " << s.ToString();
    EXPECT_NE(s.ToString().find(text[0] == 'a' ? "a=1;b" : "unknown"), std::string::npos);
    EXPECT_EQ(object, before);
  }
  EXPECT_TRUE(T::CreateFromString(ConfigOptions(), "nullptr", &object).ok()) << T::Type();
  EXPECT_EQ(object, nullptr);
}

TEST(CreateObjectsTest, BuiltInObjectsAreMade) {
  EXPECT_EQ(Made<FileSystem>("DefaultFileSystem"), FileSystem::Default());
  EXPECT_EQ(Made<FileSystem>("posix"), FileSystem::Default());
  EXPECT_EQ(Made<SystemClock>("{id=DefaultClock}"), SystemClock::Default());
  EXPECT_STREQ(Made<Statistics>("BasicStatistics")->Name(), "BasicStatistics");
  EXPECT_NE(Made<Statistics>(""), nullptr);
  EXPECT_NE(Made<FileChecksumGenFactory>("FileChecksumGenCrc32cFactory"), nullptr);
  EXPECT_NE(Made<FileChecksumGenFactory>(kStandardDbFileChecksumFuncName), nullptr);
  EXPECT_EQ(Made<MemTableRepFactory>("vector:8")->GetId(), "vector:8");
  EXPECT_EQ(Made<EventListener>(""), nullptr);
}

TEST(CreateObjectsTest, UnknownNamesAreRefused) {
  RefusesUnknownNames(FileSystem::Default());
  RefusesUnknownNames(SystemClock::Default());
  RefusesUnknownNames(CreateDBStatistics());
  RefusesUnknownNames(GetFileChecksumGenCrc32cFactory());
  RefusesUnknownNames(NewSstPartitionerFixedPrefixFactory(1));
  RefusesUnknownNames(std::shared_ptr<TableFactory>(NewBlockBasedTableFactory()));
  RefusesUnknownNames(std::make_shared<EventListener>());
  RefusesUnknownNames(std::shared_ptr<CompactionFilterFactory>());
  RefusesUnknownNames(std::shared_ptr<TablePropertiesCollectorFactory>());
  RefusesUnknownNames(std::shared_ptr<MemoryAllocator>());
  const CompactionFilter* filter = nullptr;
  EXPECT_TRUE(CompactionFilter::CreateFromString(ConfigOptions(), "x", &filter).IsNotSupported());
}

TEST(CreateObjectsTest, AMemtableIsNeeded) {
  std::shared_ptr<MemTableRepFactory> memtables = std::make_shared<SkipListFactory>();
  const auto before = memtables;
  EXPECT_TRUE(MemTableRepFactory::CreateFromString(ConfigOptions(), "", &memtables).ok());
  for (const char* text : {"nullptr", "unknown"}) {
    EXPECT_TRUE(
        MemTableRepFactory::CreateFromString(ConfigOptions(), text, &memtables).IsNotSupported());
  }
  EXPECT_EQ(memtables, before);
}

TEST(CreateObjectsTest, PartitionersHaveALength) {
  const ConfigOptions config;
  const auto made = Made<SstPartitionerFactory>("{id=SstPartitionerFixedPrefixFactory;length=3}");
  EXPECT_EQ(made->ToString(config), "{id=SstPartitionerFixedPrefixFactory;length=3;}");
  EXPECT_TRUE(made->ConfigureOption(config, "length", "x").IsInvalidArgument());
  EXPECT_TRUE(made->ConfigureOption(config, "width", "1").IsNotFound());

  // The object is written to options text and read back.
  ColumnFamilyOptions options;
  options.sst_partitioner_factory = made;
  std::string text;
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(config, options, &text).ok());
  ColumnFamilyOptions read;
  ASSERT_TRUE(GetColumnFamilyOptionsFromString(config, read, text, &read).ok());
  ASSERT_NE(read.sst_partitioner_factory, nullptr);
  EXPECT_EQ(read.sst_partitioner_factory->ToString(config), made->ToString(config));
}

TEST(CreateObjectsTest, TableFactoriesKeepWhatTheTextDoesNotName) {
  const ConfigOptions config;
  std::shared_ptr<TableFactory> factory = Made<TableFactory>("id=BlockBasedTable;block_size=9");
  auto* const options = factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(options->block_size, 9u);
  options->no_block_cache = true;
  ASSERT_TRUE(TableFactory::CreateFromString(config, "format_version=4", &factory).ok());
  const auto* const changed = factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(changed->block_size, 9u);
  EXPECT_EQ(changed->format_version, 4u);
  EXPECT_TRUE(changed->no_block_cache);
  const auto before = factory;
  EXPECT_TRUE(TableFactory::CreateFromString(config, "bogus=4", &factory).IsNotFound());
  EXPECT_EQ(factory, before);
}

// A listener of a program, with an option.
class Counting final : public EventListener {
 public:
  static const char* kClassName() { return "counting"; }
  const char* Name() const override { return kClassName(); }

 protected:
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& map,
                          std::unordered_map<std::string, std::string>* unused) override {
    auto others = map;
    const auto what = others.extract("what");
    const Status s = EventListener::ConfigureOptions(config, others, unused);
    if (s.ok() && !what.empty()) what_ = what.mapped();
    return s;
  }
  std::string PrintOptions(const ConfigOptions& /*config*/) const override {
    return "what=" + what_;
  }

 private:
  std::string what_ = "nothing";
};

TEST(CreateObjectsTest, RegisteredObjectsHaveTheirOptions) {
  const ConfigOptions config;
  config.registry->AddLibrary("mine")->AddFactory<EventListener>(
      Counting::kClassName(),
      [](const std::string&, std::unique_ptr<EventListener>* guard, std::string*) {
        *guard = std::make_unique<Counting>();
        return guard->get();
      });
  std::shared_ptr<EventListener> listener;
  ASSERT_TRUE(EventListener::CreateFromString(config, "id=counting;what=flushes", &listener).ok());
  EXPECT_NE(listener->CheckedCast<Counting>(), nullptr);
  EXPECT_EQ(listener->ToString(config), "{id=counting;what=flushes;}");
  const auto before = listener;
  const Status s = EventListener::CreateFromString(config, "id=counting;a=1", &listener);
  EXPECT_TRUE(s.IsNotFound()) << s.ToString();
  EXPECT_EQ(listener, before);
}

TEST(CreateObjectsTest, AnEnvironmentMayHaveAnOwner) {
  const ConfigOptions config;
  Env* env = nullptr;
  std::shared_ptr<Env> guard;
  for (const char* text : {"", "DefaultEnv"}) {
    ASSERT_TRUE(Env::CreateFromString(config, text, &env, &guard).ok());
    EXPECT_EQ(env, Env::Default());
    EXPECT_EQ(guard, nullptr);
  }
  config.registry->AddLibrary("mine")->AddFactory<Env>(
      "of memory", [](const std::string&, std::unique_ptr<Env>* made, std::string*) {
        made->reset(NewMemEnv(Env::Default()));
        return made->get();
      });
  ASSERT_TRUE(Env::CreateFromString(config, "of memory", &env, &guard).ok());
  EXPECT_EQ(env, guard.get());
  EXPECT_NE(env, nullptr);
  EXPECT_FALSE(Env::CreateFromString(config, "of memory", &env).ok());
  EXPECT_TRUE(Env::CreateFromString(config, "unknown", &env, &guard).IsNotSupported());
  EXPECT_EQ(env, guard.get());
}

}  // namespace
}  // namespace varve
