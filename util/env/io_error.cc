// SPDX-License-Identifier: Apache-2.0
#include "util/env/io_error.h"

#include <cerrno>
#include <system_error>

namespace varve {

IOStatus IoErrorFromErrno(const std::string& context, const std::string& file, int err) {
  const std::string text = std::generic_category().message(err);
  const std::string where = context + ": " + file;
  switch (err) {
    case ENOSPC:
    case EDQUOT: {
      // A full disk or quota may be mended by an operator or by deletions, so that background work
      // is tried again by itself. Other errors may mean lost bytes, and need Resume or a new
      // opening.
      IOStatus s = IOStatus::NoSpace(where, text);
      s.SetRetryable(true);
      return s;
    }
    case ENOENT:
      return IOStatus::PathNotFound(where, text);
    case ESTALE:
      // No constructor takes both the subcode and a text.
      return status_to_io_status(Status::CopyAppendMessage(IOStatus::IOError(IOStatus::kStaleFile),
                                                           "", where + ": " + text));
    default:
      return IOStatus::IOError(where, text);
  }
}

IOStatus IoErrorAt(const std::string& context, const std::string& file, uint64_t offset, int err) {
  return IoErrorFromErrno(context + " at offset " + std::to_string(offset), file, err);
}

}  // namespace varve
