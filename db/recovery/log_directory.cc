// SPDX-License-Identifier: Apache-2.0

// Only existing logs prove that logs are elsewhere. An OPTIONS file is only used to find a
// directory to search, because paths change when a database is moved or copied, and a directory may
// have several paths.

#include "db/recovery/log_directory.h"

#include <algorithm>
#include <memory>

#include "db/recovery/database_directory.h"
#include "db/recovery/lost_sequences.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/options/options_file.h"

namespace varve {

namespace {

// Number of first bytes by which logs of the same number are compared. They include the first
// record's checksum, and stay equal if a copy has grown differently.
constexpr uint64_t kBytesToCompare = 32;

// Sets *numbers to the logs in a directory from `min_log` on, ascending, or to none if the
// directory is missing.
Status FindLogsIn(const LogLocation& place, const std::string& directory, uint64_t min_log,
                  std::vector<uint64_t>* numbers) {
  std::vector<std::string> names;
  const IOStatus s = place.fs->GetChildren(directory, IOOptions(), &names, nullptr);
  if (!s.ok()) return IsMissing(s) ? IOStatus::OK() : s;
  for (const auto& [name, number, type] : FilesAmong(names, kWalFile)) {
    if (number >= min_log) numbers->push_back(number);
  }
  std::sort(numbers->begin(), numbers->end());
  return Status::OK();
}

Status ReadBeginning(const LogLocation& place, const std::string& path, std::string* bytes) {
  std::unique_ptr<FSSequentialFile> file;
  char scratch[kBytesToCompare];
  Slice read;
  VARVE_RETURN_IF_ERROR(place.fs->NewSequentialFile(path, FileOptions(), &file, nullptr));
  VARVE_RETURN_IF_ERROR(file->Read(kBytesToCompare, IOOptions(), &read, scratch, nullptr));
  *bytes = read.ToString();
  return Status::OK();
}

// Returns the directory of logs in the newest OPTIONS file, or "" if it is not known. `found_logs`
// is true if there are logs where they are searched.
std::string LastLogDirectory(const LogLocation& place, bool found_logs) {
  std::vector<uint64_t> numbers;
  std::string directory;
  std::string was_in;
  if (!ListOptionsFiles(place.fs, place.db_name, &numbers).ok() || numbers.empty() ||
      !ReadLogDirectory(place.fs, OptionsFileName(place.db_name, numbers.front()), &directory,
                        &was_in)
           .ok()) {
    return "";
  }
  if (!SpeaksOfThis(place, was_in, found_logs)) return "";
  // A relative path may have been relative to another working directory.
  if (!directory.starts_with('/')) return "";
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  return directory;
}

// Sets *stray to the number of a log in `other` that the directory of the options lacks, or to 0 if
// there is none.
Status FindStrayLog(const LogLocation& place, const std::string& other,
                    const std::vector<uint64_t>& numbers, uint64_t min_log, uint64_t* stray) {
  *stray = 0;
  if (other.empty() || other == place.directory ||
      IsOfAnotherDatabase(place.fs, place.db_name, other)) {
    return Status::OK();
  }
  std::vector<uint64_t> there;
  VARVE_RETURN_IF_ERROR(FindLogsIn(place, other, min_log, &there));
  for (uint64_t number : there) {
    const std::string path = LogFileName(other, number);
    std::string beginning;
    VARVE_RETURN_IF_ERROR(ReadBeginning(place, path, &beginning));
    if (beginning.find_first_not_of('\0') == std::string::npos) continue;  // It has no record.
    std::string here;
    if (std::binary_search(numbers.begin(), numbers.end(), number)) {
      VARVE_RETURN_IF_ERROR(ReadBeginning(place, LogFileName(place.directory, number), &here));
      if (beginning == here) return Status::OK();  // It is the same directory, or a copy.
    }
    if (LastSequenceIn(place.fs, place.file_options, path, number) == 0) continue;
    *stray = number;
    break;
  }
  return Status::OK();
}

}  // namespace

bool SpeaksOfThis(const LogLocation& place, const std::string& was_in, bool found) {
  if (was_in.empty() || IsSamePath(was_in, place.db_name)) return true;
  const std::string lock = LockFileName(was_in);
  const IOStatus there = place.fs->FileExists(lock, IOOptions(), nullptr);
  // The database was moved, or its former directory cannot be read. If files were found, they were
  // moved, too.
  if (!there.ok()) return !found;
  return IsSameFile(place.fs, lock, LockFileName(place.db_name));
}

Status CheckLogDirectory(const LogLocation& place, const std::vector<uint64_t>& numbers,
                         uint64_t min_log) {
  const std::string last = place.was_locked ? LastLogDirectory(place, !numbers.empty()) : "";
  for (const std::string& other : {place.db_name, last}) {
    uint64_t number = 0;
    VARVE_RETURN_IF_ERROR(FindStrayLog(place, other, numbers, min_log, &number));
    if (number == 0) continue;
    return Status::InvalidArgument(
        place.db_name, "its logs are to be in " + place.directory + " (wal_dir), but " +
                           LogFileName(other, number) +
                           " holds writes that are in no table; nothing was changed. If they are "
                           "this database's, open it with wal_dir " +
                           other + ", or move the logs");
  }
  return Status::OK();
}

Status CheckMayBeMissing(const LogLocation& place) {
  if (!place.was_locked || LastLogDirectory(place, /*found_logs=*/false) != place.directory)
    return Status::OK();
  return Status::InvalidArgument(
      place.db_name, "its logs were last written to " + place.directory +
                         " (wal_dir), which is missing; nothing was changed. Bring the directory "
                         "back, or make an empty one if all writes are in tables");
}

Status CheckNoLogs(const LogLocation& place) {
  if (place.directory == place.db_name) return Status::OK();  // Checked already.
  std::vector<uint64_t> numbers;
  VARVE_RETURN_IF_ERROR(FindLogsIn(place, place.directory, 0, &numbers));
  if (numbers.empty()) return Status::OK();
  return Status::Corruption(LogFileName(place.directory, numbers.front()),
                            "is a log of another database, and " + place.db_name +
                                " is about to be made; nothing was changed");
}

}  // namespace varve
