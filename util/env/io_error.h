// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the translation of errno values into IOStatus, and the question whether a file is just not
// there.

#include <string>

#include "varve/io_status.h"

namespace varve {

// "`context`: `file`: text of `err`" with the code that says what can be done about it:
// ENOSPC and EDQUOT are NoSpace and retryable, ENOENT is PathNotFound, ESTALE has its subcode,
// anything else is a plain IOError that is not retryable.
IOStatus IoErrorFromErrno(const std::string& context, const std::string& file, int err);

// The same with the place in the file.
IOStatus IoErrorAt(const std::string& context, const std::string& file, uint64_t offset, int err);

// The file or directory is not there. Env and FileSystem implementations say it with either code.
inline bool IsMissing(const Status& s) {
  return s.IsNotFound() || s.IsPathNotFound();
}

}  // namespace varve
