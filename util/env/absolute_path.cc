// SPDX-License-Identifier: Apache-2.0
#include "util/env/absolute_path.h"

namespace varve {

std::string AbsolutePath(FileSystem* fs, const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  std::string absolute;
  const IOStatus s = fs->GetAbsolutePath(path, IOOptions(), &absolute, nullptr);
  return s.ok() && !absolute.empty() ? absolute : path;
}

}  // namespace varve
