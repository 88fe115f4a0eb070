// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the conversion of errno values into IOStatus, and the test for a missing file.

#include <string>

#include "varve/io_status.h"

namespace varve {

// Returns "`context`: `file`: text of `err`" with a code: ENOSPC and EDQUOT are NoSpace and
// retryable, ENOENT is PathNotFound, ESTALE has its subcode, anything else is an IOError that is
// not retryable.
IOStatus IoErrorFromErrno(const std::string& context, const std::string& file, int err);

// Like IoErrorFromErrno, with the offset in the file.
IOStatus IoErrorAt(const std::string& context, const std::string& file, uint64_t offset, int err);

// True if the file or directory does not exist. Env and FileSystem implementations report that with
// either code.
inline bool IsMissing(const Status& s) {
  return s.IsNotFound() || s.IsPathNotFound();
}

}  // namespace varve
