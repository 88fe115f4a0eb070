// SPDX-License-Identifier: Apache-2.0
#pragma once

// StagedDirectory: a directory that is filled under a temporary name, and gets its own when it is
// complete and durable.
//
// Invariants:
//   1. Under the final name there is nothing, or all of it, also after a power loss.
//   2. What is deleted under the temporary name is only what such a directory can hold. Anything
//      else, sub-directories above all, is somebody's, and refuses the name.
//   3. One name is staged by one object of the process at a time.

#include <functional>
#include <memory>
#include <string>

#include "varve/file_system.h"

namespace varve {

class StagedDirectory {
 public:
  // Whether a file of that name can be a leftover of one that is staged.
  using IsOurs = std::function<bool(const std::string& name)>;

  // Makes <path>.tmp, after what a crash has left there is gone. InvalidArgument: the path is empty
  // or exists. Busy: somebody is at it. Aborted: <path>.tmp is there, and cannot be removed.
  static Status Make(std::shared_ptr<FileSystem> fs, const char* call, const std::string& path,
                     IsOurs is_ours, std::unique_ptr<StagedDirectory>* staged);
  // Removes what has not been published.
  ~StagedDirectory();
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;

  const std::string& path() const { return path_; }        // the final one
  const std::string& staging() const { return staging_; }  // where the files go

  // The files' contents are durable. After an error there is nothing of that name, as far as the
  // file system lets one remove it.
  IOStatus Publish();

 private:
  StagedDirectory(std::shared_ptr<FileSystem> fs, std::string path, IsOurs is_ours);

  Status RemoveLeftovers(const char* call);
  void Remove(const std::string& directory) noexcept;

  const std::shared_ptr<FileSystem> fs_;
  const std::string path_;
  const std::string staging_;
  const IsOurs is_ours_;
  bool registered_ = false;
  bool made_ = false;
  bool published_ = false;
};

}  // namespace varve
