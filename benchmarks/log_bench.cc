// SPDX-License-Identifier: Apache-2.0

// Measures the cost of one record of 140 bytes in a log: reserve, fill, wait until it is whole. It
// compares mapped with buffered logs, with one and two threads. VARVE_BENCH_DIR names the
// directory, and so the file system.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "db/wal/buffered_log.h"
#include "db/wal/log_writer.h"
#include "db/wal/mapped_log.h"
#include "util/env/mapped_file.h"
#include "util/env/writable_file_writer.h"
#include "util/sync/mutex.h"

namespace varve {
namespace {

// A new log begins at this size, as with a memtable.
constexpr uint64_t kLogBytes = uint64_t{64} << 20;
constexpr size_t kRecordBytes = 140;

std::string LogPath() {
  const char* const directory = std::getenv("VARVE_BENCH_DIR");
  return std::string(directory == nullptr ? "." : directory) + "/log_bench.log";
}

std::unique_ptr<wal::CommitLog> MakeLog(FileSystem* fs, bool mapped) {
  if (mapped) {
    std::unique_ptr<MappedFile> file;
    std::unique_ptr<wal::MappedLog> log;
    IOStatus s = NewMappedFile(fs, LogPath(), FileOptions(), &file);
    if (s.ok()) s = wal::MappedLog::Open(std::move(file), 1, &log);
    return log;
  }
  std::unique_ptr<WritableFileWriter> file;
  IOStatus s = WritableFileWriter::Create(fs, LogPath(), FileOptions(), {}, &file);
  if (!s.ok()) return nullptr;
  return std::make_unique<wal::BufferedLog>(std::make_unique<wal::LogWriter>(std::move(file), 1));
}

// The name is removed at once, so that the next log is another file: the other thread may still be
// storing into this one.
std::unique_ptr<wal::CommitLog> NewLog(bool mapped) {
  FileSystem* const fs = FileSystem::Default().get();
  std::unique_ptr<wal::CommitLog> log = MakeLog(fs, mapped);
  fs->DeleteFile(LogPath(), IOOptions(), nullptr).PermitUncheckedError();
  return log;
}

Mutex reserving;
std::shared_ptr<wal::CommitLog> shared_log;

void BM_Record(benchmark::State& state) {
  const bool mapped = state.range(0) != 0;
  if (state.thread_index() == 0) shared_log = NewLog(mapped);
  const std::string record(kRecordBytes, 'r');
  for (auto _ : state) {
    wal::LogReservation place;
    std::shared_ptr<wal::CommitLog> log;
    {
      MutexLock lock(&reserving);
      if (shared_log != nullptr && shared_log->size() > kLogBytes) shared_log = NewLog(mapped);
      log = shared_log;
      if (log == nullptr || !log->Reserve(record.size(), &place).ok()) {
        state.SkipWithError("the log cannot be written");
        break;
      }
    }
    log->Fill(place, record);
    benchmark::DoNotOptimize(log->WaitWhole(place).ok());
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) shared_log = nullptr;
}
BENCHMARK(BM_Record)->ArgName("mapped")->Arg(0)->Arg(1)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace varve
