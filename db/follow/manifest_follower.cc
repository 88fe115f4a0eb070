// SPDX-License-Identifier: Apache-2.0
#include "db/follow/manifest_follower.h"

#include <map>
#include <unordered_map>
#include <utility>

#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve {

Status ManifestFollower::OpenCurrent(uint64_t number) {
  const std::string path = DescriptorFileName(context_.name(), number);
  std::unique_ptr<wal::LogTail> tail;
  VARVE_RETURN_IF_ERROR(
      wal::LogTail::Open(context_.fs().get(), path, 0, context_.file_options(), &tail));
  auto replay = std::make_unique<ManifestReplay>(path, &wanted_, versions_->obsolete_files());
  std::map<uint32_t, std::shared_ptr<FamilyVersions>> families;
  std::unordered_map<uint64_t, FileRef> files;
  versions_->TakeFollowed(&families, &files);
  replay->Succeed(std::move(families), std::move(files));
  VARVE_RETURN_IF_ERROR(replay->Begin());
  number_ = number;
  tail_ = std::move(tail);
  replay_ = std::move(replay);
  return Status::OK();
}

Status ManifestFollower::TakeRecords(bool* changed) {
  Slice record;
  for (;;) {
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
  VARVE_RETURN_IF_ERROR(ReadCurrent(context_.fs().get(), context_.name(), &number));
  if (tail_ == nullptr || number != number_) {
    VARVE_RETURN_IF_ERROR(OpenCurrent(number));
    *changed = true;
  }
  const Status s = TakeRecords(changed);
  if (!s.ok()) StartAnew();
  replay_->EndSucceeding();
  return s;
}

}  // namespace varve
