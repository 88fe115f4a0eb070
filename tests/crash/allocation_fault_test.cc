// SPDX-License-Identifier: Apache-2.0

// Goal: a failed allocation affects only the call that made it: no exception leaves the API,
// nothing ends the process, nothing acknowledged is lost, and the database goes on. Method: this
// program replaces operator new, aligned or not, and anonymous mappings, from which arenas are
// made. For each of many k a child runs a short history on real files in which the k-th allocation
// by the library fails, in any thread. Then it waits until the database has recovered, checks the
// state, by whole batches, writes on, and opens it again. Allocations of the test itself are not
// counted.
//
// VARVE_ALLOCATION_POINTS=n is the number of k, spread evenly over all (0: every one).
// VARVE_ALLOCATION_CASE=k runs one, VARVE_ALLOCATION_RUN=n makes n consecutive ones fail. An error
// is reported with the position of the failed allocation.

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/iterator.h"
#include "varve/slice_transform.h"
#include "varve/snapshot.h"
#include "varve/write_batch.h"

#include "db/engine/change_positions.h"
#include "tests/crash/case_watch.h"
#include "tests/crash/family_kinds.h"
#include "tests/crash/numbered_writes.h"
#include "tests/harness/environment.h"

namespace {

std::atomic<bool> g_armed{false};
std::atomic<int64_t> g_calls{0};  // Number of calls by the library while armed.
std::atomic<int64_t> g_fails_at{INT64_MAX};
std::atomic<int64_t> g_fails_until{INT64_MAX};  // Exclusive.
std::atomic<bool> g_only_chosen{false};         // Only the chosen threads' calls count and fail.
thread_local bool t_chosen = false;
thread_local bool t_test = false;  // This thread is in the test's own code.
// The stack of the failed allocation.
void* g_frames[40];
int g_frame_count = 0;

bool Fails() {
  if (!g_armed.load(std::memory_order_relaxed) || t_test) return false;
  if (g_only_chosen.load(std::memory_order_relaxed) && !t_chosen) return false;
  const int64_t call = g_calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (call < g_fails_at.load() || call >= g_fails_until.load()) return false;
  if (call == g_fails_at.load()) g_frame_count = backtrace(g_frames, 40);
  return true;
}

void TellWhere() {
  backtrace_symbols_fd(g_frames, g_frame_count, STDERR_FILENO);
}

// Prints where the allocation failed and where the process ended, and ends with the signal.
void EndBadly(int signal) {
  TellWhere();
  void* frames[40];
  const int count = backtrace(frames, 40);
  (void)!write(STDERR_FILENO, "ended here:\n", 12);
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

// It is not inlined, as the compiler would otherwise see malloc paired with delete.
[[gnu::noinline]] void* operator new(size_t size) {
  void* const memory = Fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t& /*nothrow*/) noexcept {
  return Fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}

[[gnu::noinline]] void* operator new(size_t size, std::align_val_t alignment) {
  void* memory = nullptr;
  if (Fails() || posix_memalign(&memory, static_cast<size_t>(alignment), size) != 0) {
    throw std::bad_alloc();
  }
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/,
                                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
// Does not affect the C library's own mappings.
extern "C" void* mmap(void* address, size_t bytes, int protection, int flags, int fd,
                      off_t offset) noexcept {
  using Mmap = void* (*)(void*, size_t, int, int, int, off_t);
  static const Mmap next = reinterpret_cast<Mmap>(dlsym(RTLD_NEXT, "mmap"));
  if ((flags & MAP_ANONYMOUS) != 0 && Fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return next(address, bytes, protection, flags, fd, offset);
}

namespace varve::testing {

namespace {

constexpr uint64_t kPointsWanted = 1000;
constexpr uint64_t kWritesUnderFault = 40;
constexpr uint64_t kWritesHealed = 10;
constexpr unsigned kHangSeconds = 15;
constexpr int kHealMillis = 5000;
constexpr int kChildren = 2;
constexpr int kTries = 40;  // A call may meet only one failure.
// The exit codes of a child.
constexpr int kFine = 0;
constexpr int kWrong = 2;
constexpr int kEscaped = 3;
constexpr int kMissed = 4;
constexpr int kStuck = 5;
const std::vector<std::string> kFaultFamilies = {"default", "texts"};
// An additional family whose memtable consists of mapped blocks: some batches put a value into it,
// as their last update, that alone is larger than a block of the others.
const char* const kLargeFamily = "large";
constexpr size_t kLargeBytes = 150 << 10;
constexpr bool HasLarge(uint64_t i) {
  return i % 5 == 3;
}

// Makes an API call; an exception is recorded and becomes an error.
class Caller {
 public:
  template <typename Body>
  Status operator()(const char* what, Body body) {
    t_test = false;
    Status s;
    try {
      s = body();
    } catch (...) {
      t_test = true;
      if (escaped_.empty()) escaped_ = what;
      return Status::Aborted("thrown");
    }
    t_test = true;
    return s;
  }
  const std::string& escaped() const { return escaped_; }

 private:
  std::string escaped_;
};

// Runs the history of one child.
class AllocationRun {
 public:
  explicit AllocationRun(std::string directory) : directory_(std::move(directory)) {}

  std::string Run() {
    for (int tries = 0; tries < kTries && db_ == nullptr; tries++) Open().PermitUncheckedError();
    if (db_ == nullptr) return "it does not open: " + open_error_;
    for (int tries = 0; acked_ < kWritesUnderFault && tries < kTries;) {
      if (!WriteNext(acked_ % 7 == 0).ok()) tries++;
      Maintain();
      Read();
      const std::string problem = FillBatch();
      if (!problem.empty()) return problem;
    }
    Close();
    for (int tries = 0; tries < kTries && db_ == nullptr; tries++) Open().PermitUncheckedError();
    return db_ == nullptr ? "it does not open again: " + open_error_ : "";
  }

  // Runs without faults.
  std::string Heal(bool by_itself, bool flushes) {
    std::string problem = AwaitRecovery(by_itself);
    if (problem.empty()) problem = Check("recovered", acked_, issued_);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kHealMillis);
    const uint64_t last = acked_ + kWritesHealed;
    while (problem.empty() && acked_ < last) {
      const Status s = WriteNext(/*sync=*/true);
      if (s.ok()) continue;
      db_->Resume().PermitUncheckedError();
      if (std::chrono::steady_clock::now() > end) problem = "a later write: " + s.ToString();
    }
    for (const auto& [name, handle] : handles_) {
      if (!problem.empty() || !flushes) break;
      const Status s = db_->Flush(FlushOptions(), handle);
      if (!s.ok()) problem = "a later flush: " + s.ToString();
    }
    if (!problem.empty()) return problem;
    Close();
    const Status s = Open();
    if (!s.ok()) return "the last opening: " + s.ToString();
    problem = Check("opened again", acked_, acked_);
    Close();
    return problem;
  }

  const std::string& escaped() const { return call_.escaped(); }

 private:
  Status Open() {
    DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    ColumnFamilyOptions family;
    family.write_buffer_size = 64 << 10;
    family.level0_file_num_compaction_trigger = 3;
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : kFaultFamilies) {
      descriptors.emplace_back(name, family);
      TuneFamily(name, &descriptors.back().options);
    }
    descriptors.emplace_back(kLargeFamily, ColumnFamilyOptions());
    descriptors.back().options.write_buffer_size = 8 << 20;
    std::vector<ColumnFamilyHandle*> opened;
    DB* db = nullptr;
    Status s =
        call_("Open", [&] { return DB::Open(options, directory_, descriptors, &opened, &db); });
    db_.reset(db);
    for (size_t i = 0; i < opened.size(); i++) handles_[descriptors[i].name] = opened[i];
    if (!s.ok()) open_error_ = s.ToString();
    return s;
  }

  void Close() {
    call_("Close", [&] {
      CloseWithFamilies(&db_, &handles_);
      return Status::OK();
    }).PermitUncheckedError();
  }

  // The marker shows if a failed write is there after all.
  bool IsThere(uint64_t i) {
    std::string text;
    const Status s =
        call_("Get", [&] { return db_->Get(ReadOptions(), handles_.at("default"), "#", &text); });
    return s.ok() && text == std::to_string(i);
  }

  Status WriteNext(bool sync) {
    WriteOptions options;
    options.sync = sync;
    const uint64_t i = acked_ + 1;
    Status s;
    if (issued_ != i || !IsThere(i)) {
      issued_ = i;
      WriteBatch batch;
      s = MakeNumbered(handles_, kFaultFamilies, i, &batch);
      if (s.ok() && HasLarge(i)) s = batch.Put(handles_.at(kLargeFamily), "#", LargeOf(i));
      if (s.ok()) s = call_("Write", [&] { return db_->Write(options, &batch); });
    }
    if (s.ok()) acked_ = i;
    return s;
  }

  void Maintain() {
    if (acked_ % 8 == 0) {
      for (const auto& [name, handle] : handles_) {
        call_("Flush", [&, family = handle] {
          return db_->Flush(FlushOptions(), family);
        }).PermitUncheckedError();
      }
    }
    if (acked_ % 20 == 0) {
      call_("CompactRange", [&] {
        return db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
      }).PermitUncheckedError();
    }
  }

  // Checks that an update for which a batch has no memory is not in it, and earlier ones are
  // complete.
  std::string FillBatch() {
    if (acked_ % 5 != 0) return "";
    ColumnFamilyHandle* const handle = handles_.at("texts");
    const std::string long_value(3000, 'v');
    uint32_t added = 0;
    WriteBatch batch(0, 0, /*protection_bytes_per_key=*/8, 0);
    const auto add = [&](auto body) { added += call_("WriteBatch", body).ok() ? 1 : 0; };
    add([&] { return batch.Put(handle, "a", long_value); });
    add([&] { return batch.Merge(handle, "b", long_value); });
    add([&] { return batch.Delete(handle, "c"); });
    add([&] { return batch.SingleDelete(handle, "d"); });
    add([&] { return batch.DeleteRange(handle, "e", "f"); });
    if (batch.Count() != added) return "a batch counts what it has not";
    const Status s = batch.VerifyChecksum();
    return s.ok() ? "" : "a batch: " + s.ToString();
  }

  // Reads; the results are checked later, and may fail here.
  void Read() {
    if (acked_ % 5 != 0) return;
    ColumnFamilyHandle* const handle = handles_.at("texts");
    call_("reads", [&] {
      PinnableSlice value;
      for (const char* key : {"#", "key00001", "key00100", "key00299"}) {
        value.Reset();
        db_->Get(ReadOptions(), handle, key, &value).PermitUncheckedError();
      }
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handle));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
      }
      it->SeekToLast();
      for (int i = 0; it->Valid() && i < 10; i++) it->Prev();
      const Snapshot* const snapshot = db_->GetSnapshot();
      if (snapshot != nullptr) db_->ReleaseSnapshot(snapshot);
      return it->status();
    }).PermitUncheckedError();
  }

  static std::string LargeOf(uint64_t i) {
    return std::string(kLargeBytes, static_cast<char>('a' + i % 26));
  }
  // Checks for the value of the last large write up to n.
  std::string CheckLarge(uint64_t n) {
    std::string value;
    const Status s = db_->Get(ReadOptions(), handles_.at(kLargeFamily), "#", &value);
    if (!s.ok() && !s.IsNotFound()) return s.ToString();
    while (n > 0 && !HasLarge(n)) n--;
    if (n == 0) return s.ok() ? "is there" : "";
    return s.ok() && value == LargeOf(n) ? "" : "has not the value of write " + std::to_string(n);
  }

  std::string Check(const char* when, uint64_t least, uint64_t most) {
    const PrefixCheck check = CheckPrefix(db_.get(), handles_, kFaultFamilies, least, most);
    if (!check.ok) return std::string(when) + ": " + check.problem;
    acked_ = check.n;
    const std::string large = CheckLarge(check.n);
    return large.empty() ? "" : std::string(when) + ": family large " + large;
  }

  // Waits until the database takes writes again, by itself or because it is asked to. The failure
  // may have hit the thread that recovers by itself.
  std::string AwaitRecovery(bool by_itself) {
    const auto begin = std::chrono::steady_clock::now();
    Status s;
    for (;;) {
      const auto waited = std::chrono::steady_clock::now() - begin;
      uint64_t stopped = 1;
      if (by_itself && waited < std::chrono::milliseconds(kHealMillis / 5)) {
        db_->GetIntProperty("rocksdb.is-write-stopped", &stopped);
        s = stopped == 0 ? Status::OK() : Status::Busy();
      } else {
        s = db_->Resume();
      }
      if (s.ok()) return "";
      if (waited > std::chrono::milliseconds(kHealMillis)) return "it stays: " + s.ToString();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  const std::string directory_;
  Caller call_;
  std::unique_ptr<DB> db_;
  Handles handles_;
  std::string open_error_;
  uint64_t acked_ = 0;
  uint64_t issued_ = 0;
};

std::string DirectoryOf(int slot) {
  const char* base = getenv("TEST_TMPDIR");
  return std::string(base != nullptr ? base : "/tmp") + "/varve-allocation-" +
         std::to_string(getpid()) + "-" + std::to_string(slot);
}

// Runs a child. Writes the number of the library's calls to the descriptor `report`, if it is not
// negative.
[[noreturn]] void RunChild(const std::string& directory, int64_t fails_at, int64_t in_a_row,
                           int report) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGALRM}) std::signal(signal, &EndBadly);
  alarm(kHangSeconds);
  t_test = true;
  AllocationRun run(directory);
  g_fails_at = fails_at;
  g_fails_until = fails_at == INT64_MAX ? INT64_MAX : fails_at + in_a_row;
  g_armed = true;
  std::string problem = run.Run();
  g_armed = false;
  const int64_t calls = g_calls.load();
  if (report >= 0 && write(report, &calls, sizeof(calls)) != sizeof(calls)) _exit(kWrong);
  const bool by_itself = fails_at % 8 == 0;
  if (problem.empty()) problem = run.Heal(by_itself, /*flushes=*/fails_at % 2 != 0);
  if (!problem.empty()) {
    fprintf(stderr, "allocation %lld: %s\n", static_cast<long long>(fails_at), problem.c_str());
    TellWhere();
    const bool stuck = problem.starts_with("it does not open") || problem.starts_with("a later") ||
                       problem.starts_with("it stays");
    _exit(stuck ? kStuck : kWrong);
  }
  if (!run.escaped().empty()) {
    fprintf(stderr, "allocation %lld: %s throws\n", static_cast<long long>(fails_at),
            run.escaped().c_str());
    TellWhere();
    _exit(kEscaped);
  }
  _exit(calls < fails_at && fails_at != INT64_MAX ? kMissed : kFine);
}

pid_t Start(const std::string& directory, int64_t fails_at, int64_t in_a_row, int report = -1) {
  std::filesystem::remove_all(directory);
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) RunChild(directory, fails_at, in_a_row, report);
  return pid;
}

int64_t CountCalls() {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  int status = 0;
  const pid_t pid = Start(DirectoryOf(0), INT64_MAX, 1, ends[1]);
  int64_t calls = 0;
  EXPECT_EQ(read(ends[0], &calls, sizeof(calls)), static_cast<ssize_t>(sizeof(calls)));
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kFine) << "without a fault";
  close(ends[0]);
  close(ends[1]);
  return calls;
}

struct AllocationTotals {
  uint64_t cases = 0;
  uint64_t missed = 0;  // Threads took another course, so that there was no k-th allocation.
  uint64_t wrong = 0;
  uint64_t escaped = 0;
  uint64_t stuck = 0;  // The database does not open, or takes no more writes.
  uint64_t crash = 0;
  uint64_t hang = 0;

  void Take(int status, int64_t at) {
    cases++;
    if (WIFSIGNALED(status)) {
      (WTERMSIG(status) == SIGALRM ? hang : crash)++;
      fprintf(stderr, "allocation %lld: signal %d\n", static_cast<long long>(at), WTERMSIG(status));
      return;
    }
    const int code = WEXITSTATUS(status);
    missed += code == kMissed ? 1 : 0;
    escaped += code == kEscaped ? 1 : 0;
    stuck += code == kStuck ? 1 : 0;
    wrong += code == kWrong ? 1 : 0;
  }
};

int64_t InARow() {
  return static_cast<int64_t>(NumberFromEnvironment("VARVE_ALLOCATION_RUN", 1));
}

AllocationTotals RunAllPoints(int64_t calls, uint64_t points) {
  AllocationTotals totals;
  struct Child {
    int slot;
    int64_t at;
  };
  std::map<pid_t, Child> children;
  const auto wait = [&] {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    totals.Take(status, children.at(pid).at);
    const int slot = children.at(pid).slot;
    children.erase(pid);
    return slot;
  };
  for (uint64_t i = 0; i < points; i++) {
    const int slot =
        static_cast<int>(children.size()) < kChildren ? static_cast<int>(children.size()) : wait();
    const auto at = static_cast<int64_t>(SpreadCase(i, points, static_cast<uint64_t>(calls)));
    children[Start(DirectoryOf(slot), at, InARow())] = {slot, at};
  }
  while (!children.empty()) wait();
  for (int slot = 0; slot < kChildren; slot++) std::filesystem::remove_all(DirectoryOf(slot));
  return totals;
}

// Makes the call with the `fails_at`-th allocation by this thread failing. Other threads' succeed.
// Returns false if the call makes fewer allocations.
template <typename Call>
bool WithFailure(int64_t fails_at, const Call& call) {
  g_calls = 0;
  g_fails_at = fails_at;
  g_fails_until = fails_at + 1;
  t_chosen = true;
  g_only_chosen = true;
  g_armed = true;
  call();
  g_armed = false;
  g_only_chosen = false;
  t_chosen = false;
  return g_calls.load() >= fails_at;
}

}  // namespace

TEST(AllocationFaultTest, AnyAllocationMayFail) {
  const auto start = std::chrono::steady_clock::now();
  if (const char* one = getenv("VARVE_ALLOCATION_CASE")) {
    int status = 0;
    waitpid(Start(DirectoryOf(0), strtoll(one, nullptr, 10), InARow()), &status, 0);
    printf("%s: status %d\n", one, status);
    return;
  }
  const int64_t calls = CountCalls();
  ASSERT_GT(calls, 0);
  const uint64_t asked = NumberFromEnvironment("VARVE_ALLOCATION_POINTS", kPointsWanted);
  const uint64_t points = asked == 0 ? static_cast<uint64_t>(calls)
                                     : std::min<uint64_t>(asked, static_cast<uint64_t>(calls));
  const AllocationTotals totals = RunAllPoints(calls, points);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  printf(
      "RESULT allocations cases=%llu of=%lld missed=%llu escaped=%llu stuck=%llu wrong=%llu "
      "lost=0 crash=%llu hang=%llu secs=%.0f\n",
      static_cast<unsigned long long>(totals.cases), static_cast<long long>(calls),
      static_cast<unsigned long long>(totals.missed),
      static_cast<unsigned long long>(totals.escaped),
      static_cast<unsigned long long>(totals.stuck), static_cast<unsigned long long>(totals.wrong),
      static_cast<unsigned long long>(totals.crash), static_cast<unsigned long long>(totals.hang),
      seconds.count());
  EXPECT_EQ(totals.wrong, 0u);
  EXPECT_EQ(totals.escaped + totals.stuck + totals.crash + totals.hang, 0u);
  EXPECT_GE(totals.cases - totals.missed, points * 9 / 10);
}

// An iterator that could not be rebuilt reports it, and the next seek rebuilds it. Only the calls
// of this thread fail: a compaction whose allocation failed would stop the writes that follow.
TEST(AllocationFaultTest, AnIteratorOutlivesARebuildingThatFailed) {
  const std::string directory = DirectoryOf(0);
  std::filesystem::remove_all(directory);
  Options options;
  options.create_if_missing = true;
  options.prefix_extractor.reset(NewFixedPrefixTransform(1));
  DB* opened = nullptr;
  ASSERT_TRUE(DB::Open(options, directory, &opened).ok());
  const std::unique_ptr<DB> db(opened);
  enum Way { kRefresh, kPrefix, kAutoRefresh };
  for (const Way way : {kRefresh, kPrefix, kAutoRefresh}) {
    int failures = 0;
    for (int64_t point = 1; point <= 8; point++) {
      SCOPED_TRACE(::testing::Message() << way << " " << point);
      ASSERT_TRUE(db->Put(WriteOptions(), "a", "1").ok());
      ManagedSnapshot snapshot(db.get());
      ReadOptions read;
      read.prefix_same_as_start = way == kPrefix;
      read.auto_refresh_iterator_with_snapshot = way == kAutoRefresh;
      if (way == kAutoRefresh) read.snapshot = snapshot.snapshot();
      const std::unique_ptr<Iterator> it(db->NewIterator(read));
      it->Seek("a");
      ASSERT_TRUE(it->Valid());
      if (way != kPrefix) {
        ASSERT_TRUE(db->Flush(FlushOptions()).ok());
      }
      Status refreshed;
      WithFailure(point, [&] {
        switch (way) {
          case kRefresh:
            refreshed = it->Refresh();
            break;
          case kPrefix:
            it->SeekToFirst();
            break;
          case kAutoRefresh:
            it->Seek("a");
            break;
        }
      });
      const bool failed = !it->status().ok();
      failures += failed ? 1 : 0;
      if (way == kRefresh) {
        EXPECT_EQ(failed, !refreshed.ok());
      }
      EXPECT_TRUE(!failed || it->status().IsMemoryLimit()) << it->status().ToString();
      EXPECT_TRUE(!failed || !it->Valid());
      it->Seek("a");
      EXPECT_TRUE(it->Valid()) << it->status().ToString();
      EXPECT_TRUE(it->status().ok());
    }
    EXPECT_GT(failures, 0) << way;
  }
}

// A call that has destroyed the handle must say so, or the program would destroy it again.
TEST(AllocationFaultTest, TheDestructionOfAHandleSucceeds) {
  const std::string directory = DirectoryOf(0);
  std::filesystem::remove_all(directory);
  Options options;
  options.create_if_missing = true;
  DB* opened = nullptr;
  ASSERT_TRUE(DB::Open(options, directory, &opened).ok());
  const std::unique_ptr<DB> db(opened);
  bool fails = true;
  int64_t point = 1;
  for (; fails && point <= 100; point++) {
    SCOPED_TRACE(point);
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(ColumnFamilyOptions(), "dropped", &handle).ok());
    ASSERT_TRUE(db->Put(WriteOptions(), handle, "a", "1").ok());
    ASSERT_TRUE(db->Flush(FlushOptions(), handle).ok());
    ASSERT_TRUE(db->DropColumnFamily(handle).ok());
    Status s;
    fails = WithFailure(point, [&] { s = db->DestroyColumnFamilyHandle(handle); });
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  EXPECT_GT(point, 2) << "the call allocates nothing";
  EXPECT_LE(point, 100);
}

TEST(AllocationFaultTest, AnExpiryIsToldAfterAFailure) {
  LogSet logs(/*use_fsync=*/false);
  ChangePositions positions;
  std::vector<ChangePosition> stored(2);
  stored[0].name = std::string(100, 'a');
  stored[1].name = std::string(100, 'b');
  for (ChangePosition& position : stored) {
    position.next = position.log = position.max_bytes = 1;
  }
  positions.Recover(stored, &logs, /*now=*/1);
  ASSERT_TRUE(positions.Expire(/*needed=*/2, {{.number = 1, .bytes = 10}}, /*newest=*/1, 1));
  std::vector<ChangePosition> expired;
  int failures = 0;
  for (bool fails = true; fails; failures += fails ? 1 : 0) {
    fails = WithFailure(failures + 1, [&] {
      try {
        expired = positions.TakeExpired();
      } catch (const std::bad_alloc&) {
      }
    });
  }
  EXPECT_GT(failures, 1);
  EXPECT_EQ(expired.size(), 2u);
  EXPECT_TRUE(positions.TakeExpired().empty());
}

}  // namespace varve::testing
