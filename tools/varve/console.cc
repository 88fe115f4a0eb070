// SPDX-License-Identifier: Apache-2.0
#include "tools/varve/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "util/env/io_error.h"

namespace varve::tool {

namespace {

// Returns the width of the terminal on the standard error; 0: it is none.
size_t TerminalWidth() {
  winsize size{};
  if (::isatty(2) == 0 || ::ioctl(2, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

// The environment has no status of its own for a lock that another process holds. Its text is the
// only thing that tells it from other failures of the file system.
bool IsHeldElsewhere(const Status& status) {
  if (!status.IsIOError() && !status.IsBusy()) return false;
  const std::string text = status.ToString();
  return text.find("held by") != std::string::npos ||
         text.find("already held") != std::string::npos;
}

}  // namespace

void Console::Note(const std::string& text) {
  const size_t width = TerminalWidth();
  const std::string shown = width == 0 ? text : WrapWords(text, std::max<size_t>(width, 20));
  std::fprintf(stderr, "%s\n", shown.c_str());
}

// The order matters: a lock that is held is an I/O error too, and must not count as a failure of
// the system.
ExitStatus StatusOf(const Status& status) {
  if (status.ok()) return kGood;
  if (IsHeldElsewhere(status) || status.IsBusy() || IsMissing(status)) return kNoDatabase;
  if (status.IsCorruption()) return kFound;
  return status.IsInvalidArgument() ? kWrongUse : kFailed;
}

std::string AdviceFor(const Status& status) {
  if (IsHeldElsewhere(status)) {
    return "Close the database there first; commands that only read need no lock.";
  }
  if (status.IsCorruption()) {
    return "`varve check DB` names all damage, `varve repair DB` says what can be kept.";
  }
  if (status.IsNotSupported()) return "A newer version of the program may be needed.";
  if (status.IsNoSpace()) return "Free some space on that file system, and try again.";
  return "";
}

std::string WrapWords(const std::string& text, size_t width) {
  std::string out;
  size_t column = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const size_t length = end - at;
    if (column > 0 && column + 1 + length > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      column++;
    }
    out.append(text, at, length);
    column += length;
    at = end + 1;
  }
  return out;
}

}  // namespace varve::tool
