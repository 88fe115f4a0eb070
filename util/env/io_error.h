// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the translation of errno values into IOStatus.

#include <string>

#include "varve/io_status.h"

namespace varve {

// "`context`: `file`: text of `err`" with the code that says what can be done about it:
// ENOSPC and EDQUOT are NoSpace and retryable, ENOENT is PathNotFound, ESTALE has its subcode,
// anything else is a plain IOError that is not retryable.
IOStatus IoErrorFromErrno(const std::string& context, const std::string& file, int err);

// The same with the place in the file.
IOStatus IoErrorAt(const std::string& context, const std::string& file, uint64_t offset, int err);

}  // namespace varve
