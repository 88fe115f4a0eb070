// SPDX-License-Identifier: Apache-2.0

// The primary's MANIFEST grows, and from time to time is replaced by a new one, which begins with a
// snapshot of the whole state. The replay of a new one reuses the metadata of files that it names
// again, with their open readers (Succeed).

#include "db/follow/manifest_follower.h"

#include <map>
#include <utility>

#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve {

// After an error the follower still has its old MANIFEST.
Status ManifestFollower::OpenCurrent(uint64_t number) {
  const std::string path = DescriptorFileName(context_.name(), number);
  std::unique_ptr<wal::LogTail> tail;
  // A MANIFEST is a log without a log number, hence 0.
  VARVE_RETURN_IF_ERROR(
      wal::LogTail::Open(context_.fs().get(), path, 0, context_.file_options(), &tail));
  auto replay = std::make_unique<ManifestReplay>(path, &wanted_, versions_->obsolete_files());
  std::map<uint32_t, std::shared_ptr<FamilyVersions>> families;
  ReusableFiles files;
  versions_->CopyReferences(&families, &files);
  replay->Succeed(std::move(families), std::move(files));
  VARVE_RETURN_IF_ERROR(replay->Begin());
  // Nothing below can fail.
  number_ = number;
  tail_ = std::move(tail);
  replay_ = std::move(replay);
  return Status::OK();
}

Status ManifestFollower::TakeRecords(bool* changed) {
  Slice record;
  for (;;) {
    // Offset of the record, for messages.
    const uint64_t offset = tail_->offset();
    const wal::LogTail::Met met = tail_->Next(UINT64_MAX, &record);
    if (met == wal::LogTail::Met::kError) return tail_->status();
    if (met != wal::LogTail::Met::kRecord) return Status::OK();
    *changed = true;
    VARVE_RETURN_IF_ERROR(replay_->Take(record, offset));
  }
}

Status ManifestFollower::ReadOn(bool* changed) {
  *changed = false;
  uint64_t number = 0;
  // CURRENT is read each time, as only it shows that the primary has begun another MANIFEST.
  VARVE_RETURN_IF_ERROR(ReadCurrent(context_.fs().get(), context_.name(), &number));
  if (tail_ == nullptr || number != number_) {
    VARVE_RETURN_IF_ERROR(OpenCurrent(number));
    *changed = true;
  }
  const Status s = Guarded([&] { return TakeRecords(changed); });
  // A record that was partly applied cannot be undone, so the next call reads the file from its
  // beginning, into a new replay. The present one stays until then.
  if (!s.ok()) StartAnew();
  // Drops the old files that OpenCurrent has offered, and that the MANIFEST does not name any more.
  replay_->EndSucceeding();
  return s;
}

}  // namespace varve
