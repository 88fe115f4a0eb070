// SPDX-License-Identifier: Apache-2.0
#pragma once

// StagedDirectory fills a directory under a temporary name, and gives it its own name when it is
// complete and durable.
//
//      Make       mkdir <path>.tmp
//      caller     makes files in <path>.tmp, and syncs each of them
//      Publish    sync <path>.tmp          the names of the files are durable
//                 rename to <path>         all of it appears at once
//                 sync the parent          the new name is durable
//
// Invariants:
// 1. Under the final name there is nothing, or all of it, also after a power loss.
// 2. Only files that such a directory can hold are deleted under the temporary name. Anything else,
//    such as a sub-directory, belongs to another program and refuses the name.
// 3. Only one object of the process stages a name at a time.

#include <functional>
#include <memory>
#include <string>

#include "varve/file_system.h"

namespace varve {

class StagedDirectory {
 public:
  // Returns true if a file of that name can be a leftover of such a directory.
  using IsOurs = std::function<bool(const std::string& name)>;

  // Removes what a crash has left at <path>.tmp, and makes it. InvalidArgument: the path is empty
  // or exists. Busy: another object stages it. Aborted: <path>.tmp cannot be removed.
  static Status Make(std::shared_ptr<FileSystem> fs, const char* call, const std::string& path,
                     IsOurs is_ours, std::unique_ptr<StagedDirectory>* staged);
  // Removes the directory if it has not been published.
  ~StagedDirectory();
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;

  const std::string& path() const { return path_; }        // The final name.
  const std::string& staging() const { return staging_; }  // Directory that gets the files.

  // Makes the directory durable under its final name; the contents of its files are durable
  // already. After an error nothing has that name, as far as the file system allows its removal.
  IOStatus Publish();

 private:
  StagedDirectory(std::shared_ptr<FileSystem> fs, std::string path, IsOurs is_ours);

  // Removes the temporary directory of an earlier call. Aborted: it holds anything else.
  Status RemoveLeftovers(const char* call);
  // Removes a directory and our files in it, as far as that is possible.
  void Remove(const std::string& directory) noexcept;

  const std::shared_ptr<FileSystem> fs_;
  const std::string path_;
  const std::string staging_;
  const IsOurs is_ours_;
  // True if the name is among those that this process stages; the destructor takes it out.
  bool registered_ = false;
  // Says how far it is: the temporary directory exists, and it was renamed.
  bool made_ = false;
  bool published_ = false;
};

}  // namespace varve
