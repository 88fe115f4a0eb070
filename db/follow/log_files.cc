// SPDX-License-Identifier: Apache-2.0

// A log may be moved to the archive, and then be deleted, at any time. Every look-up tries the log
// directory first and then the archive, in the direction of the move, so that it does not miss a
// log that is moved meanwhile.

#include "db/follow/log_files.h"

#include <algorithm>
#include <iterator>

#include "db/engine/engine.h"
#include "db/engine/log_archive.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

Status LogIsMissing(const std::string& path) {
  return Status::NotFound(path, "is not there any more");
}

}  // namespace

Status LogFiles::List(std::vector<uint64_t>* numbers) const {
  // Live logs are listed first: one that is moved meanwhile is found there or in the archive.
  const std::vector<uint64_t> live = engine_.state.logs->ListWithLeaving();
  std::vector<uint64_t> archived;
  VARVE_RETURN_IF_ERROR(LogArchive(engine_.context).List(&archived));
  numbers->clear();
  std::ranges::set_union(live, archived, std::back_inserter(*numbers));
  return Status::OK();
}

Status LogFiles::After(uint64_t number, uint64_t* next) const {
  std::vector<uint64_t> numbers;
  VARVE_RETURN_IF_ERROR(List(&numbers));
  auto it = std::ranges::upper_bound(numbers, number);
  if (VARVE_CANARY(kStreamPassesLog) && numbers.end() - it > 1) ++it;
  *next = it == numbers.end() ? 0 : *it;
  return Status::OK();
}

IOStatus LogFiles::OpenAt(const std::string& path, uint64_t number,
                          std::unique_ptr<wal::LogTail>* tail) const {
  return wal::LogTail::Open(engine_.context.fs().get(), path, number,
                            engine_.context.LogFileOptions(), tail);
}

Status LogFiles::Open(uint64_t number, std::unique_ptr<wal::LogTail>* tail) const {
  const std::string path = LogFileName(engine_.context.WalDirectory(), number);
  IOStatus s = OpenAt(path, number, tail);
  if (IsMissing(s)) s = OpenAt(LogArchive(engine_.context).PathOf(number), number, tail);
  return IsMissing(s) ? LogIsMissing(path) : Status(s);
}

Status LogFiles::View(uint64_t number, LogSet::LogView* view, bool* settled) const {
  // A log that is not in the log set any more does not change: its size is that of the file, and
  // all of it counts as synced.
  const bool in_use = engine_.state.logs->View(number, view) && view->number == number;
  if (settled != nullptr) *settled = !in_use;
  if (in_use) return Status::OK();
  *view = LogSet::LogView();
  view->number = number;
  const LogArchive archive(engine_.context);
  const std::string path = LogFileName(engine_.context.WalDirectory(), number);
  IOStatus s;
  for (const std::string& at : {path, archive.PathOf(number)}) {
    s = engine_.context.fs()->GetFileSize(at, IOOptions(), &view->bytes, nullptr);
    if (!IsMissing(s)) break;
  }
  view->synced_bytes = view->bytes;
  view->recovered = true;
  return IsMissing(s) ? LogIsMissing(path) : Status(s);
}

}  // namespace varve
