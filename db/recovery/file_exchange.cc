// SPDX-License-Identifier: Apache-2.0

// Implements the steps of file_exchange.h. Each step moves or writes files, and then syncs the
// directories, the receiving one first. Undoing depends only on the files on disk, so it may itself
// be interrupted and repeated.

#include "db/recovery/file_exchange.h"

#include <utility>

#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

constexpr char kExchangeUnderWay[] = "a restore was interrupted\n";
constexpr char kExchangeList[] = "LIST";
constexpr char kCurrentName[] = "CURRENT";
// Bounds the memory that a damaged LIST or CURRENT takes; no list of files comes near it.
constexpr uint64_t kMaxListBytes = uint64_t{1} << 30;
// Number of CURRENT's temporary file.
constexpr uint64_t kCurrentTempNumber = 2;

std::string RestoreFolder(const std::string& directory) {
  return directory + "/" + kRestoreFolder;
}
std::string LeavingFolder(const std::string& directory) {
  return RestoreFolder(directory) + "/before";
}

// Replaces CURRENT durably. Sets *in_doubt, unless that is null, to true if CURRENT may have the
// new contents despite an error, and leaves it otherwise.
Status WriteCurrent(FileSystem* fs, const std::string& db_name, const std::string& text,
                    bool* in_doubt = nullptr) {
  return WriteFileDurably(fs, db_name, ExchangeTempName(), kCurrentName, text, nullptr, in_doubt);
}

// Reads the file, or sets *text to "" if it is missing.
Status ReadIfThere(FileSystem* fs, const std::string& path, std::string* text) {
  text->clear();
  IOStatus s = ReadFileToString(fs, path, kMaxListBytes, text);
  return IsMissing(s) ? Status::OK() : Status(s);
}

Status ListIfThere(FileSystem* fs, const std::string& directory,
                   std::vector<std::string>* entries) {
  entries->clear();
  IOStatus s = fs->GetChildren(directory, IOOptions(), entries, nullptr);
  return IsMissing(s) ? Status::OK() : Status(s);
}

Status MoveAll(FileSystem* fs, const std::vector<std::string>& names, const std::string& from,
               const std::string& to) {
  for (const std::string& name : names) {
    VARVE_RETURN_IF_ERROR(fs->RenameFile(from + "/" + name, to + "/" + name, IOOptions(), nullptr));
  }
  // The new names are synced first, so that no crash leaves a file without a name.
  VARVE_RETURN_IF_ERROR(SyncDirectory(fs, to));
  return SyncDirectory(fs, from);
}

// Does step 1.
Status Announce(FileSystem* fs, const ExchangedFiles& place) {
  const std::string folder = RestoreFolder(place.directory);
  const std::string leaving = LeavingFolder(place.directory);
  VARVE_RETURN_IF_ERROR(fs->CreateDirIfMissing(leaving, IOOptions(), nullptr));
  std::string text;
  for (const std::string& name : place.coming) text.append(name).append("\n");
  VARVE_RETURN_IF_ERROR(
      WriteFileDurably(fs, folder, std::string(kExchangeList) + ".dbtmp", kExchangeList, text));
  std::string current;
  VARVE_RETURN_IF_ERROR(ReadIfThere(fs, CurrentFileName(place.directory), &current));
  // The old CURRENT is saved before the marker replaces it.
  if (!current.empty()) {
    VARVE_RETURN_IF_ERROR(
        WriteFileDurably(fs, leaving, std::string(kCurrentName) + ".dbtmp", kCurrentName, current));
  }
  VARVE_RETURN_IF_ERROR(SyncDirectory(fs, leaving));
  return SyncDirectory(fs, place.directory);
}

// Undoes steps 3 and 4.
Status MoveBack(FileSystem* fs, const std::string& directory) {
  const std::string incoming = IncomingFolder(directory);
  const std::string leaving = LeavingFolder(directory);
  std::string text;
  VARVE_RETURN_IF_ERROR(ReadIfThere(fs, RestoreFolder(directory) + "/" + kExchangeList, &text));
  std::vector<std::string> moved_in;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
    std::string name = text.substr(0, end);
    text.erase(0, end + 1);
    IOStatus waits = fs->FileExists(incoming + "/" + name, IOOptions(), nullptr);
    // The new file was not moved in; a file of that name in the directory is an old one.
    if (waits.ok()) continue;
    if (!IsMissing(waits)) return waits;
    moved_in.push_back(std::move(name));
  }
  // New files are moved first, as old ones may have the same names.
  if (!moved_in.empty()) VARVE_RETURN_IF_ERROR(MoveAll(fs, moved_in, directory, incoming));
  std::vector<std::string> left;
  VARVE_RETURN_IF_ERROR(ListIfThere(fs, leaving, &left));
  // CURRENT is restored last, by GoBack; the temporary file of its copy stays, too.
  std::erase_if(left,
                [](const std::string& name) { return Slice(name).starts_with(kCurrentName); });
  return left.empty() ? Status::OK() : MoveAll(fs, left, leaving, directory);
}

Status GoBack(FileSystem* fs, const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    VARVE_RETURN_IF_ERROR(MoveBack(fs, directory));
  }
  const std::string& db_name = directories.front();
  std::string current;
  VARVE_RETURN_IF_ERROR(ReadIfThere(fs, LeavingFolder(db_name) + "/" + kCurrentName, &current));
  if (!current.empty()) return WriteCurrent(fs, db_name, current);
  // There was no database before.
  VARVE_RETURN_IF_ERROR(fs->DeleteFile(CurrentFileName(db_name), IOOptions(), nullptr));
  return SyncDirectory(fs, db_name);
}

// Removes the folder with all its files, durably, so that none of them reappears in a later folder
// of this name.
Status RemoveFolder(FileSystem* fs, const std::string& folder) {
  std::vector<std::string> entries;
  VARVE_RETURN_IF_ERROR(ListIfThere(fs, folder, &entries));
  for (const std::string& entry : entries) {
    IOStatus s = fs->DeleteFile(folder + "/" + entry, IOOptions(), nullptr);
    if (!s.ok() && !IsMissing(s)) return s;
  }
  if (!entries.empty()) VARVE_RETURN_IF_ERROR(SyncDirectory(fs, folder));
  IOStatus s = fs->DeleteDir(folder, IOOptions(), nullptr);
  return IsMissing(s) ? Status::OK() : Status(s);
}

// Does steps 2 to 5. Sets *in_doubt as WriteCurrent does in step 5.
Status Exchange(FileSystem* fs, const std::vector<ExchangedFiles>& places,
                const std::string& new_current, bool* in_doubt) {
  const std::string& db_name = places.front().directory;
  VARVE_RETURN_IF_ERROR(WriteCurrent(fs, db_name, kExchangeUnderWay));
  for (const ExchangedFiles& place : places) {
    VARVE_RETURN_IF_ERROR(
        MoveAll(fs, place.leaving, place.directory, LeavingFolder(place.directory)));
  }
  for (const ExchangedFiles& place : places) {
    VARVE_RETURN_IF_ERROR(
        MoveAll(fs, place.coming, IncomingFolder(place.directory), place.directory));
  }
  return WriteCurrent(fs, db_name, new_current, in_doubt);
}

}  // namespace

std::string ExchangeTempName() {
  return TempFileName("", kCurrentTempNumber).substr(1);  // without the slash
}

std::string IncomingFolder(const std::string& directory) {
  return RestoreFolder(directory) + "/new";
}

Status ExchangeFiles(FileSystem* fs, const std::vector<ExchangedFiles>& places,
                     const std::string& new_current, bool* in_force) {
  *in_force = false;
  for (const ExchangedFiles& place : places) VARVE_RETURN_IF_ERROR(Announce(fs, place));
  bool in_doubt = false;
  const Status s = Exchange(fs, places, new_current, &in_doubt);
  *in_force = s.ok() || in_doubt;
  return s;
}

Status RemoveRestoreFolder(FileSystem* fs, const std::string& directory) {
  const std::string folder = RestoreFolder(directory);
  IOStatus there = fs->FileExists(folder, IOOptions(), nullptr);
  if (IsMissing(there)) return Status::OK();
  if (!there.ok()) return there;
  for (const std::string& inner : {IncomingFolder(directory), LeavingFolder(directory)}) {
    IOStatus s = fs->FileExists(inner, IOOptions(), nullptr);
    if (s.ok()) VARVE_RETURN_IF_ERROR(RemoveFolder(fs, inner));
  }
  VARVE_RETURN_IF_ERROR(RemoveFolder(fs, folder));
  return SyncDirectory(fs, directory);
}

// May itself be interrupted: the marker in CURRENT stays until the old CURRENT is restored.
Status UndoInterruptedRestore(FileSystem* fs, const std::string& db_name,
                              const std::string& wal_dir) {
  std::vector<std::string> directories = {db_name};
  if (!wal_dir.empty() && wal_dir != db_name) directories.push_back(wal_dir);
  std::string current;
  VARVE_RETURN_IF_ERROR(ReadIfThere(fs, CurrentFileName(db_name), &current));
  // Without the marker, the exchange has not begun or is complete, and the folders are leftovers.
  if (current == kExchangeUnderWay) VARVE_RETURN_IF_ERROR(GoBack(fs, directories));
  for (const std::string& directory : directories) {
    VARVE_RETURN_IF_ERROR(RemoveRestoreFolder(fs, directory));
  }
  return Status::OK();
}

}  // namespace varve
