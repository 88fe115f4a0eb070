// SPDX-License-Identifier: Apache-2.0
#pragma once

// StagedDirectory creates a directory under a temporary name, and renames it when it is complete
// and durable.
//
//      Make       mkdir <path>.tmp
//      caller     makes files in <path>.tmp, and syncs each of them
//      Publish    sync <path>.tmp          the names of the files are durable
//                 rename to <path>         all of it appears at once
//                 sync the parent          the new name is durable
//
// Invariants:
// 1. Under the final name there is nothing or the complete directory, even after a power loss.
// 2. Only files that such a directory can have are deleted under the temporary name. If there is
//    anything else, such as a subdirectory, Make refuses the name.
// 3. Only one object of the process stages a name at a time.

#include <functional>
#include <memory>
#include <string>

#include "varve/file_system.h"

namespace varve {

class StagedDirectory {
 public:
  // Returns true if a directory of this kind can have a file of that name.
  using IsOurs = std::function<bool(const std::string& name)>;

  // Removes what a crash has left at <path>.tmp, and creates that directory. *staged is set only if
  // the call succeeds. `call` is the name of the caller in messages. InvalidArgument: the path is
  // empty or exists. Busy: another object stages it. Aborted: <path>.tmp cannot be removed.
  static Status Make(std::shared_ptr<FileSystem> fs, const char* call, const std::string& path,
                     IsOurs is_ours, std::unique_ptr<StagedDirectory>* staged);
  // Removes the directory if it has not been published.
  ~StagedDirectory();
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;

  const std::string& path() const { return path_; }        // The final name.
  const std::string& staging() const { return staging_; }  // The temporary name.

  // Renames the directory to its final name, durably. Requires that the contents of its files are
  // durable. After an error nothing has the final name, unless the file system fails to remove it.
  IOStatus Publish();

 private:
  StagedDirectory(std::shared_ptr<FileSystem> fs, std::string path, IsOurs is_ours);

  // Removes the temporary directory of an earlier call. Aborted: it holds other files, or cannot be
  // removed.
  Status RemoveLeftovers(const char* call);
  // Removes the files that is_ours_ accepts, and the directory if it is then empty. Ignores errors.
  void Remove(const std::string& directory) noexcept;

  const std::shared_ptr<FileSystem> fs_;
  const std::string path_;
  const std::string staging_;
  const IsOurs is_ours_;
  // True if the name is registered in this process; the destructor removes it.
  bool registered_ = false;
  // True once the temporary directory exists, and once it was renamed.
  bool made_ = false;
  bool published_ = false;
};

}  // namespace varve
