// SPDX-License-Identifier: Apache-2.0
#include "db/background/log_files.h"

#include <utility>

#include "db/wal/buffered_log.h"
#include "db/wal/log_writer.h"
#include "db/wal/mapped_log.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/mapped_file.h"

namespace varve {

namespace {

// A mapped log cannot hold records back, and keeps no pace of write-back. A process that is killed
// while it stores several records at once may leave one out and those behind it there: only
// recovery to a point in time calls that an end.
bool WantsMapping(const DBOptions& options) {
  return !options.manual_wal_flush && options.allow_fallocate && options.wal_bytes_per_sync == 0 &&
         options.wal_compression == kNoCompression && options.recycle_log_file_num == 0 &&
         options.wal_recovery_mode == WALRecoveryMode::kPointInTimeRecovery;
}

IOStatus MakeMapped(const Engine& e, uint64_t number, const std::string& path,
                    std::unique_ptr<wal::CommitLog>* log) {
  std::unique_ptr<MappedFile> file;
  IOStatus s = NewMappedFile(e.fs.get(), path, e.LogFileOptions(), &file);
  if (!s.ok()) return s;
  std::unique_ptr<wal::MappedLog> mapped;
  s = wal::MappedLog::Open(std::move(file), number, &mapped);
  if (s.ok()) *log = std::move(mapped);
  return s;
}

// The file of an obsolete log has its blocks already. If it cannot be had, a new one does.
IOStatus MakeWritable(const Engine& e, const std::string& path, uint64_t recycled,
                      std::unique_ptr<FSWritableFile>* file) {
  if (recycled != 0) {
    const std::string old_path = LogFileName(e.WalDirectory(), recycled);
    IOStatus s = e.fs->ReuseWritableFile(path, old_path, e.LogFileOptions(), file, nullptr);
    if (s.ok()) return s;
    LogWarn(e.info_log.get(), "could not reuse %s: %s", old_path.c_str(), s.ToString().c_str());
    // There it would stay until the next opening.
    e.fs->DeleteFile(old_path, IOOptions(), nullptr).PermitUncheckedError();
  }
  return e.fs->NewWritableFile(path, e.LogFileOptions(), file, nullptr);
}

IOStatus MakeBuffered(const Engine& e, const NewLog& wanted, const std::string& path,
                      const WritableFileWriter::Options& writer_options,
                      std::unique_ptr<wal::CommitLog>* log) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = MakeWritable(e, path, wanted.recycled, &file);
  if (!s.ok()) return s;
  auto writer = std::make_unique<WritableFileWriter>(std::move(file), path, writer_options);
  const wal::LogWriterOptions log_options{e.options.manual_wal_flush,
                                          /*recyclable=*/e.options.recycle_log_file_num > 0,
                                          e.options.wal_compression};
  *log = std::make_unique<wal::BufferedLog>(
      std::make_unique<wal::LogWriter>(std::move(writer), wanted.number, log_options));
  return s;
}

IOStatus Append(const std::string& record, wal::CommitLog* log) {
  wal::LogPlace place;
  IOStatus s = log->Reserve(record.size(), &place);
  if (!s.ok()) return s;
  log->Fill(place, record);
  return log->WaitWhole(place);
}

}  // namespace

IOStatus MakeLogFile(const Engine& e, const NewLog& wanted,
                     const WritableFileWriter::Options& writer_options,
                     std::unique_ptr<wal::CommitLog>* log) {
  const std::string path = LogFileName(e.WalDirectory(), wanted.number);
  // Whatever stands against a mapped log, a plain file may do still.
  const bool mapped = WantsMapping(e.options) && MakeMapped(e, wanted.number, path, log).ok();
  IOStatus s = mapped ? IOStatus::OK() : MakeBuffered(e, wanted, path, writer_options, log);
  if (s.ok() && !wanted.mark.empty()) s = Append(wanted.mark, log->get());
  for (const std::string& payload : wal::EncodeTimestampSizes(wanted.timestamp_sizes)) {
    if (s.ok()) s = (*log)->AddTimestampSizes(payload);
  }
  return s;
}

void RemoveLogFile(const Engine& e, const NewLog& wanted) {
  for (uint64_t number : {wanted.number, wanted.recycled}) {
    if (number == 0) continue;
    e.fs->DeleteFile(LogFileName(e.WalDirectory(), number), IOOptions(), nullptr)
        .PermitUncheckedError();
  }
}

}  // namespace varve
