// SPDX-License-Identifier: Apache-2.0
#include "util/env/absolute_path.h"

#include <filesystem>

namespace varve {

std::string AbsolutePath(FileSystem* fs, const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  std::string absolute;
  const IOStatus s = fs->GetAbsolutePath(path, IOOptions(), &absolute, nullptr);
  return s.ok() && !absolute.empty() ? absolute : path;
}

bool IsSamePath(const std::string& a, const std::string& b) {
  // A slash at the end is ignored.
  const auto normal = [](const std::string& path) {
    return (std::filesystem::path(path) / "").lexically_normal();
  };
  return normal(a) == normal(b);
}

bool IsSameFile(FileSystem* fs, const std::string& a, const std::string& b) {
  bool same = false;
  const IOStatus s = fs->AreFilesSame(a, b, IOOptions(), &same, nullptr);
  return s.ok() && same;
}

}  // namespace varve
