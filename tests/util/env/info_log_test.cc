// SPDX-License-Identifier: Apache-2.0
//
// The information log: lines, levels, rotation.

#include "util/env/info_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/harness/fault_file_system.h"
#include "util/env/durable_write.h"
#include "util/env/mem_file_system.h"

namespace varve {
namespace {

const IOOptions kLogIo;

class ManualClock final : public SystemClockWrapper {
 public:
  ManualClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "ManualClock"; }
  uint64_t NowMicros() override { return micros; }
  std::string TimeToString(uint64_t time) override { return "T" + std::to_string(time); }
  uint64_t micros = 5000000;
};

class InfoLogTest : public testing::Test {
 protected:
  void Open() { ASSERT_TRUE(OpenInfoLog(fs_, clock_, "/db", "", options_, &log_).ok()); }
  std::string Read(const std::string& name) {
    std::string out;
    EXPECT_TRUE(ReadFileToString(fs_.get(), "/db/" + name, 1 << 20, &out).ok());
    return out;
  }
  // Texts only, without time and thread.
  std::vector<std::string> Lines(const std::string& name = "LOG") {
    std::vector<std::string> out;
    const std::string all = Read(name);
    for (size_t at = 0; at < all.size();) {
      const size_t end = all.find('\n', at);
      const std::string line = all.substr(at, end - at);
      out.push_back(line.substr(line.find(' ', line.find(' ') + 1) + 1));
      at = end + 1;
    }
    return out;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren("/db", kLogIo, &names, nullptr).ok());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::shared_ptr<MemFileSystem> fs_ = std::make_shared<MemFileSystem>();
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  InfoLogOptions options_;
  std::shared_ptr<Logger> log_;
};

using Texts = std::vector<std::string>;

TEST_F(InfoLogTest, LinesCarryTimeAndLevel) {
  Open();
  clock_->micros = 7000042;
  LogInfo(log_.get(), "opened %d files\n", 3);
  LogWarn(log_.get(), "slow");
  LogError(log_.get(), "bad %s", "block");
  LogDebug(log_.get(), "not at this level");
  LogInfo(nullptr, "nowhere");
  EXPECT_EQ(Lines(), (Texts{"opened 3 files", "[WARN] slow", "[ERROR] bad block"}));
  EXPECT_EQ(Read("LOG").substr(0, 10), "T7.000042 ");
  log_->SetInfoLogLevel(ERROR_LEVEL);
  LogWarn(log_.get(), "quiet");
  Error(log_, "loud");
  EXPECT_EQ(Lines().back(), "[ERROR] loud");
  EXPECT_EQ(log_->GetLogFileSize(), Read("LOG").size());
}

TEST_F(InfoLogTest, LongEntriesAreKeptWhole) {
  Open();
  const std::string text(5000, 'x');
  LogInfo(log_.get(), "%s", text.c_str());
  EXPECT_EQ(Lines(), (Texts{text}));
}

TEST_F(InfoLogTest, RepeatedWarningsAreCounted) {
  Open();
  for (int i = 0; i < 5; ++i) LogWarn(log_.get(), "disk full");
  for (int i = 0; i < 2; ++i) LogInfo(log_.get(), "progress");
  clock_->micros += 2000000;
  LogWarn(log_.get(), "disk full");
  clock_->micros += 2000000;
  LogWarn(log_.get(), "disk full");
  EXPECT_EQ(Lines(), (Texts{"[WARN] disk full", "(the line above came 4 times more)", "progress",
                            "progress", "[WARN] disk full", "[WARN] disk full"}));
}

TEST_F(InfoLogTest, AnExistingLogIsMovedAside) {
  Open();
  LogInfo(log_.get(), "first run");
  log_.reset();
  clock_->micros = 6000000;
  Open();
  LogInfo(log_.get(), "second run");
  EXPECT_EQ(Names(), (Texts{"LOG", "LOG.old.6000000"}));
  EXPECT_EQ(Lines("LOG.old.6000000"), (Texts{"first run"}));
  EXPECT_EQ(Lines(), (Texts{"second run"}));
}

TEST_F(InfoLogTest, LargeLogsRotateRepeatTheirHeadersAndTheOldestGo) {
  options_.max_log_file_size = 200;
  options_.keep_log_file_num = 3;
  Open();
  LogHeader(log_.get(), "version 1");
  for (int i = 0; i < 50; ++i) {
    clock_->micros += 10;
    LogInfo(log_.get(), "a line of some length %d", i);
  }
  const Texts names = Names();
  ASSERT_EQ(names.size(), 3u);
  for (const std::string& name : names) {
    EXPECT_EQ(Lines(name).front(), "version 1");
    EXPECT_LE(Read(name).size(), 300u);
  }
  EXPECT_EQ(Lines().back(), "a line of some length 49");
}

TEST_F(InfoLogTest, HeadersOfWhatIsGoneAreNotRepeated) {
  options_.max_log_file_size = 1000;
  Open();
  LogHeader(log_.get(), "version 1");
  LogHeader(log_.get(), "family [a]:\n size 7");
  LogHeader(log_.get(), "family [a]:b:\n size 8");
  ForgetHeader(log_.get(), "family [a]:");
  ForgetHeader(log_.get(), "family [none]:");
  ForgetHeader(nullptr, "family [a]:");
  clock_->micros += 10;
  for (int i = 0; Names().size() < 2; i++) LogInfo(log_.get(), "a line %d", i);
  const Texts lines = Lines();
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0], "version 1");
  EXPECT_EQ(lines[1], "family [a]:b:");
}

// Headers that fill a log, which is then over its limit at once, would begin one with every line.
TEST_F(InfoLogTest, HeadersTakeAQuarterOfALogAtMost) {
  options_.max_log_file_size = 4000;
  Open();
  LogHeader(log_.get(), "version 1");
  for (int i = 0; i < 100; i++) LogHeader(log_.get(), "family [%d]: %0200d", i, 0);
  const size_t logs = Names().size();
  for (int i = 0; i < 20; i++) {
    clock_->micros += 10;
    LogInfo(log_.get(), "a line %d", i);
  }
  EXPECT_EQ(Lines().front(), "version 1");
  EXPECT_EQ(Lines().back(), "a line 19");
  // The lines have three quarters of a log, which the numbers of a process and of a thread may end
  // at any of them.
  EXPECT_LE(Names().size(), logs + 1);
}

TEST_F(InfoLogTest, OldLogsRotate) {
  options_.log_file_time_to_roll = 60;
  Open();
  LogInfo(log_.get(), "one");
  clock_->micros += 59 * 1000000;
  LogInfo(log_.get(), "two");
  clock_->micros += 1000000;
  LogInfo(log_.get(), "three");
  EXPECT_EQ(Lines(), (Texts{"three"}));
  // A clock that is set back is no reason to rotate.
  clock_->micros = 1000;
  LogInfo(log_.get(), "four");
  EXPECT_EQ(Lines(), (Texts{"three", "four"}));
}

// The new file is not to be had, or the new name of the old one.
TEST_F(InfoLogTest, LinesGoToTheOldFileWhileNoNewOneCanBeHad) {
  const auto faulty = std::make_shared<FaultFileSystem>(fs_);
  ASSERT_TRUE(fs_->CreateDir("/db", kLogIo, nullptr).ok());
  options_.max_log_file_size = 100;
  ASSERT_TRUE(OpenInfoLog(faulty, clock_, "/db", "", options_, &log_).ok());
  LogHeader(log_.get(), "version 1");
  Texts written;
  const auto write = [&](int i) {
    written.push_back("a line " + std::to_string(i));
    LogInfo(log_.get(), "%s", written.back().c_str());
    clock_->micros += 600000;
  };
  for (const FaultCall call : {FaultCall::kCreate, FaultCall::kRename}) {
    FaultRule rule;
    rule.calls = Only(call);
    rule.sticky = true;
    faulty->Inject(rule);
    for (int i = 0; i < 20; i++) write(i);
    EXPECT_GT(faulty->strikes(), 2u);
    EXPECT_EQ(Lines().back(), "a line 19") << "under its own name";
    faulty->ClearFaults();
  }
  EXPECT_EQ(Names(), (Texts{"LOG"}));
  for (int i = 20; i < 30; i++) write(i);
  EXPECT_GT(Names().size(), 1u);
  Texts read;
  for (const std::string& name : Names()) {
    for (const std::string& line : Lines(name)) {
      if (line != "version 1") read.push_back(line);
    }
  }
  std::sort(read.begin(), read.end());
  std::sort(written.begin(), written.end());
  EXPECT_EQ(read, written);
}

TEST_F(InfoLogTest, ALoggerThatCannotWriteStaysSilent) {
  const auto faulty = std::make_shared<FaultFileSystem>(fs_);
  ASSERT_TRUE(fs_->CreateDir("/db", kLogIo, nullptr).ok());
  options_.max_log_file_size = 1;
  ASSERT_TRUE(OpenInfoLog(faulty, clock_, "/db", "", options_, &log_).ok());
  FaultRule rule;
  rule.sticky = true;
  faulty->Inject(rule);
  for (int i = 0; i < 5; ++i) LogInfo(log_.get(), "lost %d", i);
  EXPECT_TRUE(log_->Close().ok() || faulty->strikes() > 0);
  LogInfo(log_.get(), "after Close");
  log_.reset();
}

// A user's logger that overrides only the form without a level.
class TextLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    char text[200];
    (void)std::vsnprintf(text, sizeof(text), format, ap);
    texts.emplace_back(text);
  }
  Texts texts;
};

TEST(LoggerTest, LevelsReachAPlainLoggerAsMarks) {
  TextLogger logger;
  Info(&logger, "a %d", 1);
  Warn(&logger, "b");
  Debug(&logger, "c");
  Header(&logger, "d");
  Log(&logger, "e");
  Log(FATAL_LEVEL, &logger, "f");
  EXPECT_EQ(logger.texts, (Texts{"a 1", "[WARN] b", "d", "e", "[FATAL] f"}));
}

}  // namespace
}  // namespace varve
