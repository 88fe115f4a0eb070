// SPDX-License-Identifier: Apache-2.0
#pragma once

// UnsyncedFiles knows which shared files of a backup directory may not be durable, because a backup
// with BackupEngineOptions::sync = false has made them: a power loss can destroy their bytes. A
// later backup with sync = true copies them anew instead of relying on them.
//
// Their paths are listed in meta/unsynced, one a line. A path is added durably before the file gets
// its name, and removed when the file is durable. So a crash can leave a path without a file, but
// no unsynced file without its path here.

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "varve/file_system.h"
#include "varve/status.h"

#include "db/backup/backup_meta.h"
#include "db/backup/backup_names.h"
#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/io_error.h"

namespace varve {

// Thread safety: none, except that const methods may be called concurrently.
class UnsyncedFiles {
 public:
  // `meta_folder` is the path of meta/.
  UnsyncedFiles(FileSystem* fs, std::string meta_folder)
      : fs_(fs), folder_(std::move(meta_folder)) {}

  // Reads the list of the directory. A missing list is empty.
  Status Load() {
    paths_.clear();
    std::string text;
    const IOStatus s = ReadFileToString(fs_, Path(), kMaxMetaFileBytes, &text);
    if (IsMissing(s)) return Status::OK();
    VARVE_RETURN_IF_ERROR(s);
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      paths_.insert(text.substr(at, end - at));
      at = end + 1;
    }
    return Status::OK();
  }

  // Returns paths relative to the directory.
  const std::set<std::string>& paths() const { return paths_; }

  // Replaces the list durably. After an error the directory has the old list or the new one.
  Status Replace(std::set<std::string> paths) {
    if (paths == paths_) return Status::OK();
    if (paths.empty()) {
      // The deletion need not be durable: a path that a crash brings back only costs one more copy.
      const IOStatus s = fs_->DeleteFile(Path(), IOOptions(), nullptr);
      if (!IsMissing(s)) VARVE_RETURN_IF_ERROR(s);
    } else {
      std::string text;
      for (const std::string& path : paths) text.append(path).append("\n");
      VARVE_RETURN_IF_ERROR(
          WriteFileDurably(fs_, folder_, BackupTempName(kFileName), kFileName, text));
    }
    paths_ = std::move(paths);
    return Status::OK();
  }

 private:
  static constexpr const char* kFileName = "unsynced";

  std::string Path() const { return folder_ + "/" + kFileName; }

  FileSystem* const fs_;
  const std::string folder_;
  std::set<std::string> paths_;
};

}  // namespace varve
