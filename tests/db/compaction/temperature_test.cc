// SPDX-License-Identifier: Apache-2.0

// Goal: files get the temperatures that options say, keep them over openings, and are read and
// counted with them. Method: a file system that notes with which temperature files are created and
// opened.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/env_wrappers.h"
#include "varve/file_system_wrappers.h"
#include "varve/statistics.h"
#include "varve/system_clock.h"

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

class TemperatureFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  static const char* kClassName() { return "TemperatureFiles"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    Note(&created_, name, options);
    return FileSystemWrapper::NewWritableFile(name, options, file, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    Note(&opened_, name, options);
    return FileSystemWrapper::NewRandomAccessFile(name, options, file, dbg);
  }

  // Returns the temperature with which the last file of that type was created, or opened.
  Temperature created(FileType type) { return Last(created_, type); }
  Temperature opened(FileType type) { return Last(opened_, type); }

 private:
  using Temperatures = std::map<FileType, Temperature>;

  void Note(Temperatures* to, const std::string& name, const FileOptions& options) {
    uint64_t number = 0;
    FileType type = kTempFile;
    if (!ParseFileName(name.substr(name.rfind('/') + 1), &number, &type)) return;
    const std::lock_guard lock(mu_);
    (*to)[type] = options.temperature;
  }
  Temperature Last(const Temperatures& of, FileType type) {
    const std::lock_guard lock(mu_);
    const auto it = of.find(type);
    return it == of.end() ? Temperature::kLastTemperature : it->second;
  }

  std::mutex mu_;
  Temperatures created_;
  Temperatures opened_;
};

class TemperatureTest : public Database {
 protected:
  TemperatureTest() {
    files_ = std::make_shared<TemperatureFiles>(file_system());
    seeing_ = NewCompositeEnv(files_);
    options_.env = seeing_.get();
    options_.disable_auto_compactions = true;
    options_.num_levels = 3;
    options_.max_open_files = -1;
  }
  ~TemperatureTest() override { EXPECT_TRUE(Close().ok()); }

  // Returns the temperatures of the live tables, by level.
  std::vector<std::pair<int, Temperature>> OfTables() {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    std::vector<std::pair<int, Temperature>> of;
    for (const LiveFileMetaData& file : files) of.emplace_back(file.level, file.temperature);
    return of;
  }
  Status CompactTo(int level, const CompactionOptions& options = CompactionOptions()) {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    std::vector<std::string> names;
    for (const LiveFileMetaData& file : files) names.push_back(file.name);
    return db()->CompactFiles(options, names, level);
  }

  std::shared_ptr<TemperatureFiles> files_;
  std::unique_ptr<Env> seeing_;
};

using Tables = std::vector<std::pair<int, Temperature>>;

TEST_F(TemperatureTest, FilesGetWhatOptionsSay) {
  options_.default_write_temperature = Temperature::kWarm;
  options_.last_level_temperature = Temperature::kCold;
  options_.wal_write_temperature = Temperature::kHot;
  options_.metadata_write_temperature = Temperature::kCool;
  options_.enable_blob_files = true;
  options_.min_blob_size = 100;
  options_.statistics = CreateDBStatistics();
  Open();
  EXPECT_EQ(files_->created(kWalFile), Temperature::kHot);
  EXPECT_EQ(files_->created(kDescriptorFile), Temperature::kCool);
  Put("a", std::string(1000, 'a'));
  Flush();
  EXPECT_EQ(files_->created(kTableFile), Temperature::kWarm);
  EXPECT_EQ(files_->created(kBlobFile), Temperature::kWarm);
  EXPECT_EQ(files_->opened(kTableFile), Temperature::kWarm);
  EXPECT_EQ(OfTables(), (Tables{{0, Temperature::kWarm}}));
  ASSERT_TRUE(CompactTo(1).ok());
  EXPECT_EQ(OfTables(), (Tables{{1, Temperature::kWarm}}));
  ASSERT_TRUE(CompactTo(2).ok());
  EXPECT_EQ(OfTables(), (Tables{{2, Temperature::kCold}}));
  EXPECT_EQ(files_->opened(kTableFile), Temperature::kCold);
  EXPECT_NE(Text("rocksdb.live-sst-files-size-at-temperature12"), "0");
  EXPECT_EQ(Text("rocksdb.live-sst-files-size-at-temperature8"), "0");
  Reopen();
  EXPECT_EQ(OfTables(), (Tables{{2, Temperature::kCold}}));
  EXPECT_EQ(Get("a"), std::string(1000, 'a'));
  EXPECT_EQ(files_->opened(kTableFile), Temperature::kCold);
  EXPECT_GT(options_.statistics->getTickerCount(COLD_FILE_READ_COUNT), 0u);
}

TEST_F(TemperatureTest, OptionsChangeWhileTheDatabaseIsOpen) {
  Open();
  MakeTable({"a"});
  EXPECT_EQ(OfTables(), (Tables{{0, Temperature::kUnknown}}));
  ASSERT_TRUE(
      db()->SetOptions({{"default_write_temperature", "kHot"}, {"last_level_temperature", "kIce"}})
          .ok());
  MakeTable({"b"});
  EXPECT_EQ(files_->created(kTableFile), Temperature::kHot);
  ASSERT_TRUE(CompactTo(2).ok());
  EXPECT_EQ(OfTables(), (Tables{{2, Temperature::kIce}}));
  EXPECT_TRUE(db()->SetOptions({{"last_level_temperature", "kTepid"}}).IsInvalidArgument());
  EXPECT_TRUE(db()->SetOptions({{"default_temperature", "kHot"}}).IsInvalidArgument());
}

TEST_F(TemperatureTest, ACallReplacesThem) {
  options_.last_level_temperature = Temperature::kIce;
  Open();
  MakeTable({"a"});
  CompactionOptions options;
  options.output_temperature_override = Temperature::kHot;
  ASSERT_TRUE(CompactTo(2, options).ok());
  EXPECT_EQ(OfTables(), (Tables{{2, Temperature::kHot}}));
  options.output_temperature_override = static_cast<Temperature>(3);
  const Status s = CompactTo(2, options);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("output_temperature_override"), std::string::npos);
}

TEST_F(TemperatureTest, FilesThatSayNothingHaveTheDefault) {
  options_.default_temperature = Temperature::kCool;
  options_.statistics = CreateDBStatistics();
  Open();
  MakeTable({"a"});
  EXPECT_EQ(OfTables(), (Tables{{0, Temperature::kUnknown}}));
  EXPECT_EQ(files_->created(kTableFile), Temperature::kUnknown);
  EXPECT_EQ(files_->opened(kTableFile), Temperature::kCool);
  EXPECT_EQ(Get("a"), "of a");
  EXPECT_GT(options_.statistics->getTickerCount(COOL_FILE_READ_COUNT), 0u);
}

// A clock that tests move.
class MovedClock final : public SystemClockWrapper {
 public:
  MovedClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "MovedClock"; }
  Status GetCurrentTime(int64_t* unix_time) override {
    *unix_time = now.load();
    return Status::OK();
  }

  std::atomic<int64_t> now{1'000'000};
};

class MovedClockEnv final : public EnvWrapper {
 public:
  MovedClockEnv(Env* base, std::shared_ptr<SystemClock> clock) : EnvWrapper(base) {
    file_system_ = base->GetFileSystem();
    system_clock_ = std::move(clock);
  }
  const char* Name() const override { return "MovedClockEnv"; }
};

TEST_F(TemperatureTest, FifoTablesCoolDown) {
  const auto clock = std::make_shared<MovedClock>();
  MovedClockEnv env(options_.env, clock);
  options_.env = &env;
  options_.disable_auto_compactions = false;
  options_.num_levels = 1;
  options_.compaction_style = kCompactionStyleFIFO;
  options_.statistics = CreateDBStatistics();
  options_.compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kWarm, 100},
                                                                      {Temperature::kCold, 200}};
  Open();
  MakeTable({"a"});
  clock->now += 150;
  MakeTable({"b"});
  ASSERT_TRUE(Eventually([this] {
    return OfTables() == Tables{{0, Temperature::kUnknown}, {0, Temperature::kWarm}};
  }));
  // The rewritten table is as old as its data.
  clock->now += 100;
  MakeTable({"c"});
  ASSERT_TRUE(Eventually([this] {
    return OfTables() ==
           Tables{{0, Temperature::kUnknown}, {0, Temperature::kWarm}, {0, Temperature::kCold}};
  }));
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c");
  EXPECT_EQ(options_.statistics->getTickerCount(FIFO_CHANGE_TEMPERATURE_COMPACTIONS), 3u);
  ASSERT_TRUE(Close().ok());
}

TEST_F(TemperatureTest, ThresholdsOfFifoAreChecked) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.num_levels = 1;
  auto& ages = options_.compaction_options_fifo.file_temperature_age_thresholds;
  ages = {{Temperature::kWarm, 200}, {Temperature::kCold, 200}};
  EXPECT_TRUE(TryOpen().IsNotSupported());
  ages = {{Temperature::kWarm, 200}};
  options_.num_levels = 2;
  EXPECT_TRUE(TryOpen().IsNotSupported());
  options_.num_levels = 1;
  Open();
  EXPECT_TRUE(db()->SetOptions({{"compaction_options_fifo",
                                 "{file_temperature_age_thresholds={{temperature=kCold;age=9}:"
                                 "{temperature=kIce;age=8}}}"}})
                  .IsNotSupported());
  ASSERT_TRUE(db()->SetOptions({{"compaction_options_fifo",
                                 "{file_temperature_age_thresholds={{temperature=kCold;age=9}:"
                                 "{temperature=kIce;age=10}}}"}})
                  .ok());
  EXPECT_EQ(db()->GetOptions().compaction_options_fifo.file_temperature_age_thresholds,
            (std::vector<FileTemperatureAge>{{Temperature::kCold, 9}, {Temperature::kIce, 10}}));
}

TEST_F(TemperatureTest, OtherNumbersAreRefused) {
  const auto refused = [this](Temperature* field, const std::string& name) {
    *field = static_cast<Temperature>(5);
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find(name), std::string::npos) << s.ToString();
    *field = Temperature::kUnknown;
  };
  refused(&options_.default_temperature, "default_temperature");
  refused(&options_.default_write_temperature, "default_write_temperature");
  refused(&options_.last_level_temperature, "last_level_temperature");
  refused(&options_.wal_write_temperature, "wal_write_temperature");
  refused(&options_.metadata_write_temperature, "metadata_write_temperature");
}

}  // namespace
}  // namespace varve::testing
