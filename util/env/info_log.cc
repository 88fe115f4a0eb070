// SPDX-License-Identifier: Apache-2.0

// One logger, FileLogger, with one mutex: an entry is formatted outside of it, and counted as a
// repeat, or written, under it. Rotation happens in the thread that writes the entry for which the
// LOG is too large or too old, under the mutex, so that no line is lost between two files:
//
//     LOG --rename--> LOG.old.<micros>;  new LOG opened;  old one closed;  headers repeated;
//     oldest files deleted
//
// If the new LOG cannot be opened the name goes back, and lines go on into the old file; another
// attempt is made a second later. A failure of the LOG never reaches a caller.

#include "util/env/info_log.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "util/base/canary.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/metrics/iostats.h"
#include "util/sync/fork_watch.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

constexpr uint64_t kMicrosPerSecond = 1000 * 1000;
// Bytes of one entry; longer text is truncated.
constexpr size_t kLongestEntry = 64 * 1024;
constexpr size_t kUsualEntry = 512;
// Bytes of headers that are kept for the next LOG.
constexpr size_t kHeaderBytesMax = 1024 * 1024;

const char* LevelTag(InfoLogLevel level) {
  switch (level) {
    case DEBUG_LEVEL:
      return "[DEBUG] ";
    case WARN_LEVEL:
      return "[WARN] ";
    case ERROR_LEVEL:
      return "[ERROR] ";
    case FATAL_LEVEL:
      return "[FATAL] ";
    case INFO_LEVEL:
    case HEADER_LEVEL:
    case NUM_INFO_LOG_LEVELS:
      break;
  }
  return "";
}

// Returns the formatted text, truncated to kLongestEntry, without line feeds at its end.
std::string FormatText(const char* format, va_list ap) {
  std::string text(kUsualEntry, '\0');
  va_list again;
  va_copy(again, ap);
  const int length = std::vsnprintf(text.data(), text.size(), format, ap);
  if (length >= 0 && static_cast<size_t>(length) >= text.size()) {
    // The first attempt has told the whole length, and va_list can be read only once, so the second
    // attempt uses the copy.
    text.resize(std::min<size_t>(static_cast<size_t>(length) + 1, kLongestEntry));
    (void)std::vsnprintf(text.data(), text.size(), format, again);
  }
  va_end(again);
  text.resize(length < 0 ? 0 : std::min<size_t>(static_cast<size_t>(length), text.size() - 1));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// Location and limits of a logger's rotation; fs is null for a logger that does not rotate.
struct Rotation {
  std::shared_ptr<FileSystem> fs;
  std::string db_path;
  std::string log_dir;
  InfoLogOptions options;
};

// Writes entries to a file. It is silent in a child of fork(): the file is the parent's, which
// continues to write at a position that the child does not know.
class FileLogger final : public Logger, private ForkWatch {
 public:
  FileLogger(std::string fname, std::unique_ptr<FSWritableFile> file,
             std::shared_ptr<SystemClock> clock, Rotation rotation)
      : Logger(rotation.options.level),
        fname_(std::move(fname)),
        clock_(std::move(clock)),
        rotation_(std::move(rotation)),
        opened_micros_(clock_->NowMicros()),
        file_(std::move(file)) {
    Watch(nullptr);
  }

  ~FileLogger() override {
    Forget();
    (void)CloseFile().ok();
  }

  using Logger::Logv;
  void Logv(const char* format, va_list ap) override { Write(INFO_LEVEL, format, ap); }
  void Logv(const InfoLogLevel log_level, const char* format, va_list ap) override {
    if (log_level < GetInfoLogLevel()) return;
    Write(log_level, format, ap);
  }
  void LogHeader(const char* format, va_list ap) override { Write(HEADER_LEVEL, format, ap); }

  void ForgetHeader(const std::string& first_line) {
    if (VARVE_CANARY(kKeepEveryHeader)) return;
    MutexLock lock(&mutex_);
    size_t forgotten = 0;
    std::erase_if(headers_, [&](const std::string& header) {
      const bool gone = header.starts_with(first_line) &&
                        (header.size() == first_line.size() || header[first_line.size()] == '\n');
      if (gone) forgotten += header.size();
      return gone;
    });
    header_bytes_ -= forgotten;
  }

  size_t GetLogFileSize() const override { return size_.load(std::memory_order_relaxed); }

  void Flush() override {
    MutexLock lock(&mutex_);
    // See OpenInfoLog: failures are dropped.
    if (file_ != nullptr) (void)file_->Flush(IOOptions(), nullptr).ok();
  }

  // May be changed while other threads write.
  InfoLogLevel GetInfoLogLevel() const override { return level_.load(std::memory_order_relaxed); }
  void SetInfoLogLevel(const InfoLogLevel log_level) override {
    level_.store(log_level, std::memory_order_relaxed);
  }

 protected:
  Status CloseImpl() override { return CloseFile(); }

 private:
  IOStatus CloseFile() {
    MutexLock lock(&mutex_);
    if (file_ == nullptr) return IOStatus::OK();
    ReportRepeats();
    IOStatus s = file_->Close(IOOptions(), nullptr);
    file_.reset();
    return s;
  }

  // Formats before it takes the mutex, so that threads which log at once wait only for the file. A
  // repeated warning is compared as text, level included, with the line before it; so a pair of
  // alternating warnings is never counted.
  void Write(InfoLogLevel level, const char* format, va_list ap) {
    const IOTimer<&IOStatsContext::logger_nanos> timer;
    std::string text = LevelTag(level) + FormatText(format, ap);
    const uint64_t now = clock_->NowMicros();
    MutexLock lock(&mutex_);
    if (file_ == nullptr) return;
    if (level >= WARN_LEVEL && level < HEADER_LEVEL && text == last_text_ &&
        now - last_micros_ < kMicrosPerSecond) {
      ++repeats_;
      return;
    }
    ReportRepeats();
    if (NeedsRotation(now)) Rotate(now);
    WriteLine(now, text);
    if (level == HEADER_LEVEL) KeepHeader(text);
    last_text_ = std::move(text);
    last_micros_ = now;
  }

  // Keeps a header for the next LOG. A LOG that never rotates has none.
  void KeepHeader(const std::string& text) VARVE_REQUIRES(mutex_) {
    const InfoLogOptions& o = rotation_.options;
    const bool rotates = o.max_log_file_size > 0 || o.log_file_time_to_roll > 0;
    if (rotation_.fs == nullptr || !(rotates || VARVE_CANARY(kKeepEveryHeader))) return;
    const size_t room = o.max_log_file_size == 0
                            ? kHeaderBytesMax
                            : std::min(kHeaderBytesMax, o.max_log_file_size / 4);
    if (header_bytes_ + text.size() > room && !VARVE_CANARY(kKeepEveryHeader)) return;
    headers_.push_back(text);
    header_bytes_ += text.size();
  }

  void ReportRepeats() VARVE_REQUIRES(mutex_) {
    if (repeats_ == 0) return;
    const std::string note = "(the line above came " + std::to_string(repeats_) + " times more)";
    repeats_ = 0;
    WriteLine(last_micros_, note);
  }

  void WriteLine(uint64_t micros, const std::string& text) VARVE_REQUIRES(mutex_) {
    if (file_ == nullptr) return;
    std::array<char, 64> place = {};
    (void)std::snprintf(place.data(), place.size(), ".%06u %lx ",
                        static_cast<unsigned>(micros % kMicrosPerSecond),
                        static_cast<unsigned long>(::syscall(SYS_gettid)));
    const std::string line =
        clock_->TimeToString(micros / kMicrosPerSecond) + place.data() + text + "\n";
    if (file_->Append(line, IOOptions(), nullptr).ok()) {
      size_.fetch_add(line.size(), std::memory_order_relaxed);
    }
  }

  bool NeedsRotation(uint64_t now) const VARVE_REQUIRES(mutex_) {
    if (rotation_.fs == nullptr) return false;
    // After a failed attempt the old file takes the lines for a while.
    if (failed_micros_ != 0 && now >= failed_micros_ && now - failed_micros_ < kMicrosPerSecond) {
      return false;
    }
    const InfoLogOptions& o = rotation_.options;
    if (o.max_log_file_size > 0 && size_.load(std::memory_order_relaxed) >= o.max_log_file_size) {
      return true;
    }
    // A clock that was set back makes the difference wrap; that must not cause a rotation.
    return o.log_file_time_to_roll > 0 && now > opened_micros_ &&
           (now - opened_micros_) / kMicrosPerSecond >= o.log_file_time_to_roll;
  }

  void Rotate(uint64_t now) VARVE_REQUIRES(mutex_);

  // Nothing is destroyed: another thread of the parent may have been changing it, and closing the
  // file could change the parent's. The child loses the memory.
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS {
    std::construct_at(&mutex_);
    (void)file_.release();
    std::construct_at(&headers_);
    header_bytes_ = 0;
    std::construct_at(&last_text_);
    repeats_ = 0;
  }

  const std::string fname_;
  const std::shared_ptr<SystemClock> clock_;
  const Rotation rotation_;
  // Bytes in the current file; read without the lock by GetLogFileSize.
  std::atomic<size_t> size_{0};
  std::atomic<InfoLogLevel> level_{rotation_.options.level};

  // Unranked: held during I/O, in which a file system of the user may log or call a database.
  Mutex mutex_;
  uint64_t opened_micros_ VARVE_GUARDED_BY(mutex_);
  uint64_t failed_micros_ VARVE_GUARDED_BY(mutex_) = 0;  // Time of the last failed rotation; 0 if
                                                         // none.
  std::unique_ptr<FSWritableFile> file_ VARVE_GUARDED_BY(mutex_);
  std::vector<std::string> headers_ VARVE_GUARDED_BY(mutex_);
  size_t header_bytes_ VARVE_GUARDED_BY(mutex_) = 0;  // Bytes of headers_.
  std::string last_text_ VARVE_GUARDED_BY(mutex_);
  uint64_t last_micros_ VARVE_GUARDED_BY(mutex_) = 0;
  uint64_t repeats_ VARVE_GUARDED_BY(mutex_) = 0;
};

std::string DirectoryOfLogs(const Rotation& r, const std::string& dbname) {
  return r.log_dir.empty() ? dbname : r.log_dir;
}

// Renames an existing LOG to a free name. Sets *old_name to that name, or to "" if there was no
// LOG.
IOStatus MoveAside(const Rotation& r, const std::string& fname, uint64_t now,
                   std::string* old_name) {
  const IOOptions options;
  old_name->clear();
  if (!r.fs->FileExists(fname, options, nullptr).ok()) return IOStatus::OK();
  // Two rotations within a microsecond, or a clock that was set back, would meet a name that is
  // taken, and a rename would silently replace that log.
  do {
    *old_name = OldInfoLogFileName(r.db_path, now++, r.db_path, r.log_dir);
  } while (r.fs->FileExists(*old_name, options, nullptr).ok());
  return r.fs->RenameFile(fname, *old_name, options, nullptr);
}

// Deletes the oldest LOG.old files beyond keep_log_file_num. Failures are ignored.
void DeleteOldest(const Rotation& r) {
  const IOOptions options;
  const std::string dir = DirectoryOfLogs(r, r.db_path);
  std::vector<std::string> names;
  if (!r.fs->GetChildren(dir, options, &names, nullptr).ok()) return;
  const std::string prefix = InfoLogPrefix(!r.log_dir.empty(), r.db_path);
  std::vector<std::pair<uint64_t, std::string>> old_logs;
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type = kTempFile;
    if (ParseFileName(name, prefix, &number, &type) && type == kInfoLogFile && name != prefix) {
      old_logs.emplace_back(number, name);
    }
  }
  // One of the files to keep is LOG itself, which is not in the list.
  const size_t keep = std::max<size_t>(r.options.keep_log_file_num, 1) - 1;
  if (old_logs.size() <= keep) return;
  std::sort(old_logs.begin(), old_logs.end());
  for (size_t i = 0; i < old_logs.size() - keep; ++i) {
    (void)r.fs->DeleteFile(dir + "/" + old_logs[i].second, options, nullptr).ok();
  }
}

IOStatus OpenLogFile(FileSystem* fs, const std::string& fname, const IOOptions& options,
                     std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) {
  FileOptions file_options;
  file_options.io_options = options;
  file_options.io_options.type = IOType::kLog;
  return fs->NewWritableFile(fname, file_options, file, dbg);
}

// Rotates the LOG. The current file is closed only after the next one is open: until then it takes
// the lines, whatever its name.
void FileLogger::Rotate(uint64_t now) {
  FileSystem* const fs = rotation_.fs.get();
  // Taken for a failure until the end, so that each early return below leaves the pause before the
  // next attempt behind.
  failed_micros_ = now;
  std::string old_name;
  if (!MoveAside(rotation_, fname_, now, &old_name).ok()) return;
  std::unique_ptr<FSWritableFile> next;
  if (!OpenLogFile(fs, fname_, IOOptions(), &next, nullptr).ok()) {
    // The attempt may have left an empty file, whose name is taken over again.
    if (!old_name.empty()) (void)fs->RenameFile(old_name, fname_, IOOptions(), nullptr).ok();
    return;
  }
  (void)file_->Close(IOOptions(), nullptr).ok();
  file_ = std::move(next);
  failed_micros_ = 0;
  opened_micros_ = now;
  size_.store(0, std::memory_order_relaxed);
  // WriteLine and not Write: a header that is repeated is not kept a second time.
  for (const std::string& header : headers_) WriteLine(now, header);
  DeleteOldest(rotation_);
}

}  // namespace

Status OpenInfoLog(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock,
                   const std::string& dbname, const std::string& log_dir,
                   const InfoLogOptions& options, std::shared_ptr<Logger>* result) {
  result->reset();
  // Rotations come later, when the working directory may be another.
  const std::string db_path = AbsolutePath(fs.get(), dbname);
  const Rotation rotation{fs, db_path, AbsolutePath(fs.get(), log_dir), options};
  Status s = fs->CreateDirIfMissing(DirectoryOfLogs(rotation, db_path), IOOptions(), nullptr);
  if (!s.ok()) return s;
  const std::string fname = InfoLogFileName(db_path, db_path, rotation.log_dir);
  // If this fails the previous entries are lost; the log is best effort.
  std::string old_name;
  (void)MoveAside(rotation, fname, clock->NowMicros(), &old_name).ok();
  DeleteOldest(rotation);
  std::unique_ptr<FSWritableFile> file;
  s = OpenLogFile(fs.get(), fname, IOOptions(), &file, nullptr);
  if (!s.ok()) return s;
  *result = std::make_shared<FileLogger>(fname, std::move(file), clock, rotation);
  return s;
}

void ForgetHeader(Logger* log, const std::string& first_line) {
  auto* const file_logger = dynamic_cast<FileLogger*>(log);
  if (file_logger != nullptr) file_logger->ForgetHeader(first_line);
}

IOStatus NewFileLogger(FileSystem* fs, const std::shared_ptr<SystemClock>& clock,
                       const std::string& fname, const IOOptions& options,
                       std::shared_ptr<Logger>* result, IODebugContext* dbg) {
  result->reset();
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = OpenLogFile(fs, fname, options, &file, dbg);
  if (s.ok()) *result = std::make_shared<FileLogger>(fname, std::move(file), clock, Rotation{});
  return s;
}

}  // namespace varve
