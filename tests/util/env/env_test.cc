// SPDX-License-Identifier: Apache-2.0
//
// Env, its adapters and clocks.

#include "varve/env.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "varve/file_system.h"
#include "varve/options.h"
#include "varve/system_clock.h"

#include "util/env/info_log.h"
#include "util/env/mem_file_system.h"
#include "util/sync/mutex.h"

namespace varve {
namespace {

const IOOptions kEnvIo;

// Counts, as an old-style Env, the files that it creates, and shifts the clock.
class CountingEnv : public EnvWrapper {
 public:
  explicit CountingEnv(Env* base) : EnvWrapper(base) {}
  Status NewWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                         const EnvOptions& options) override {
    ++created;
    last_buffer_size = options.writable_file_max_buffer_size;
    return EnvWrapper::NewWritableFile(f, r, options);
  }
  uint64_t NowMicros() override { return 1234567; }

  int created = 0;
  size_t last_buffer_size = 0;
};

TEST(EnvTest, OverriddenFunctionsAreHeardThroughTheAdapters) {
  const std::unique_ptr<Env> mem(NewMemEnv(Env::Default()));
  CountingEnv env(mem.get());
  ASSERT_TRUE(env.CreateDirIfMissing("/d").ok());
  FileOptions options;
  options.writable_file_max_buffer_size = 777;
  std::unique_ptr<FSWritableFile> f;
  ASSERT_TRUE(env.GetFileSystem()->NewWritableFile("/d/a", options, &f, nullptr).ok());
  ASSERT_TRUE(f->Append("hello", kEnvIo, nullptr).ok());
  ASSERT_TRUE(f->Close(kEnvIo, nullptr).ok());
  EXPECT_EQ(env.created, 1);
  EXPECT_EQ(env.last_buffer_size, 777u);
  EXPECT_EQ(env.GetSystemClock()->NowMicros(), 1234567u);
  std::string data;
  ASSERT_TRUE(ReadFileToString(&env, "/d/a", &data).ok());
  EXPECT_EQ(data, "hello");
  ASSERT_TRUE(WriteStringToFile(&env, "bye", "/d/a", true).ok());
  ASSERT_TRUE(ReadFileToString(mem.get(), "/d/a", &data).ok());
  EXPECT_EQ(data, "bye");
  EXPECT_EQ(env.created, 2);
}

// Names its host in one of the two calls only.
class NamedHostEnv final : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  Status GetHostNameString(std::string* result) override {
    *result = "a host with a name of its own";
    return Status::OK();
  }
};

TEST(EnvTest, WrappersForwardBothNamesOfTheHost) {
  NamedHostEnv named(Env::Default());
  EnvWrapper wrapper(&named);
  const std::unique_ptr<Env> mem(NewMemEnv(&named));
  for (Env* const env : {static_cast<Env*>(&wrapper), mem.get()}) {
    std::string host;
    ASSERT_TRUE(env->GetHostNameString(&host).ok());
    EXPECT_EQ(host, "a host with a name of its own");
  }
}

TEST(EnvTest, ACompositeEnvTakesItsFilesFromTheFileSystem) {
  const auto fs = std::make_shared<MemFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  ASSERT_TRUE(env->CreateDirIfMissing("/only/here").ok());
  EXPECT_TRUE(fs->FileExists("/only/here", kEnvIo, nullptr).ok());
  EXPECT_EQ(env->GetFileSystem(), fs);
  EXPECT_TRUE(Env::Default()->FileExists("/only/here").IsNotFound());
  std::atomic<int> ran{0};
  env->StartThreadTyped([&ran] { ran.store(1); });
  env->WaitForJoin();
  EXPECT_EQ(ran.load(), 1);
}

TEST(EnvTest, UniqueIdsAreUuids) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = Env::Default()->GenerateUniqueId();
    ASSERT_EQ(id.size(), 36u);
    for (size_t at = 0; at < id.size(); ++at) {
      const bool dash = at == 8 || at == 13 || at == 18 || at == 23;
      ASSERT_EQ(id[at] == '-', dash) << id;
      ASSERT_TRUE(dash || std::string("0123456789abcdef").find(id[at]) != std::string::npos) << id;
    }
    ASSERT_EQ(id[14], '4');
    ASSERT_TRUE(seen.insert(id).second);
  }
}

TEST(EnvTest, TheDefaultEnvKnowsItsHost) {
  Env* const env = Env::Default();
  std::string host;
  ASSERT_TRUE(env->GetHostNameString(&host).ok());
  EXPECT_FALSE(host.empty());
  std::string path;
  ASSERT_TRUE(env->GetAbsolutePath("x", &path).ok());
  EXPECT_EQ(path[0], '/');
  EXPECT_EQ(path.substr(path.size() - 2), "/x");
  uint64_t free_bytes = 0;
  EXPECT_TRUE(env->GetFreeSpace("/tmp", &free_bytes).ok());
  EXPECT_NE(env->GetThreadID(), 0u);
  EXPECT_EQ(Env::IOActivityToString(Env::IOActivity::kCustomIOActivityA7), "CustomIOActivityA7");
  EXPECT_EQ(Env::IOActivityToString(Env::IOActivity::kGetEntity), "GetEntity");
}

TEST(EnvTest, FileOptionsFollowTheDatabasesOptions) {
  DBOptions db;
  db.use_direct_reads = true;
  db.bytes_per_sync = 123;
  db.wal_bytes_per_sync = 456;
  db.writable_file_max_buffer_size = 789;
  const FileOptions options(db);
  EXPECT_TRUE(options.use_direct_reads);
  EXPECT_EQ(options.bytes_per_sync, 123u);
  EXPECT_EQ(options.writable_file_max_buffer_size, 789u);
  EXPECT_EQ(FileSystem::Default()->OptimizeForLogWrite(options, db).bytes_per_sync, 456u);
  EXPECT_FALSE(FileSystem::Default()->OptimizeForLogRead(options).use_direct_reads);
  // The defaults of both are the same.
  const EnvOptions from_db{DBOptions()};
  const EnvOptions plain;
  EXPECT_EQ(plain.use_mmap_writes, from_db.use_mmap_writes);
  EXPECT_EQ(plain.writable_file_max_buffer_size, from_db.writable_file_max_buffer_size);
  EXPECT_EQ(plain.compaction_readahead_size, from_db.compaction_readahead_size);
  EXPECT_EQ(plain.set_fd_cloexec, from_db.set_fd_cloexec);
}

TEST(SystemClockTest, TimeGoesOn) {
  const auto& clock = SystemClock::Default();
  const uint64_t nanos = clock->NowNanos();
  int64_t seconds = 0;
  ASSERT_TRUE(clock->GetCurrentTime(&seconds).ok());
  EXPECT_GT(seconds, 1600000000);
  EXPECT_GT(clock->NowMicros(), 1600000000000000u);
  clock->SleepForMicroseconds(100);
  EXPECT_GE(clock->NowNanos() - nanos, 100000u);
  EXPECT_EQ(clock->TimeToString(0).size(), 19u);
  EXPECT_EQ(clock->TimeToString(0)[10], '-');
}

TEST(SystemClockTest, TimedWaitTellsAPassedDeadline) {
  const auto& clock = SystemClock::Default();
  Mutex mutex;
  CondVar cv(&mutex);
  MutexLock lock(&mutex);
  EXPECT_TRUE(clock->TimedWait(&cv, std::chrono::microseconds(1)));
  // Spurious wake-ups answer false; a deadline that is near passes in the end.
  const auto deadline = std::chrono::microseconds(clock->NowMicros() + 2000);
  while (!clock->TimedWait(&cv, deadline)) {
  }
  EXPECT_GE(clock->NowMicros() + 1000, static_cast<uint64_t>(deadline.count()));
}

TEST(EnvTest, IdsOfRequestsAreCopiedWithTheContext) {
  IODebugContext copy;
  {
    const std::string id = "request-1";
    IODebugContext original;
    original.SetRequestId(&id);
    original.AddCounter("reads", 3);
    copy = original;
    const IODebugContext second(original);
    EXPECT_NE(second.request_id, &id);
  }
  ASSERT_NE(copy.request_id, nullptr);
  EXPECT_EQ(*copy.request_id, "request-1");
  EXPECT_NE(copy.ToString().find("reads = 3"), std::string::npos);
}

}  // namespace
}  // namespace varve
