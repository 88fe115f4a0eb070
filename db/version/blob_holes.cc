// SPDX-License-Identifier: Apache-2.0
#include "db/version/blob_holes.h"

#include <algorithm>
#include <utility>

namespace varve {

namespace {

// True if one of the versions before number `without` has the blob file, so that a reader may still
// follow a reference that the later ones lack.
bool HasOlder(const std::vector<VersionRef>& live, uint64_t number, uint64_t without) {
  return std::ranges::any_of(live, [&](const VersionRef& version) {
    return version->version_number() < without && version->blob_files().Find(number) != nullptr;
  });
}

}  // namespace

void BlobHoles::Add(uint32_t family, const std::shared_ptr<const BlobFile>& file, uint64_t without,
                    ByteRanges records) {
  if (records.empty()) return;
  files_[file->number()].file = file;
  Waiting& waiting = waiting_.emplace_back();
  waiting.family = family;
  waiting.number = file->number();
  waiting.without = without;
  waiting.records = std::move(records);
  Limit();
}

// The state of a file may be forgotten while its garbage waits; then nothing is known of the file
// but its number, and the garbage goes as well.
std::vector<BlobHoles::Task> BlobHoles::TakeReady(
    const std::vector<VersionRef>& live, const std::function<bool(uint32_t family)>& wanted) {
  if (empty()) return {};
  std::map<uint64_t, std::shared_ptr<const BlobFile>> changed;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto known = files_.find(at->number);
    std::shared_ptr<const BlobFile> file;
    if (known != files_.end() && wanted(at->family)) file = known->second.file.lock();
    if (file == nullptr) {
      at = waiting_.erase(at);
    } else if (HasOlder(live, at->number, at->without)) {
      ++at;
    } else {
      known->second.garbage.Add(at->records);
      changed.emplace(at->number, std::move(file));
      at = waiting_.erase(at);
    }
  }
  std::vector<Task> tasks;
  for (auto& [number, file] : changed) {
    File& known = files_.at(number);
    ByteRanges holes = known.garbage.WholeBlocks(kHoleBlock);
    holes.Remove(known.punched);
    known.punched.Add(holes);
    tasks.push_back({std::move(file), holes.List()});
  }
  return tasks;
}

void BlobHoles::Return(uint64_t number, const ByteRange& hole) {
  const auto known = files_.find(number);
  if (known != files_.end()) known->second.punched.Remove(hole);
}

size_t BlobHoles::Ranges() const {
  size_t ranges = 0;
  for (const Waiting& waiting : waiting_) ranges += waiting.records.size();
  for (const auto& [number, file] : files_) ranges += file.garbage.size() + file.punched.size();
  return ranges;
}

void BlobHoles::Limit() {
  std::erase_if(files_, [](const auto& file) { return file.second.file.expired(); });
  size_t ranges = Ranges();
  while (ranges > kMostRanges && !files_.empty()) {
    const auto oldest = files_.begin();
    const uint64_t number = oldest->first;
    ranges -= oldest->second.garbage.size() + oldest->second.punched.size();
    files_.erase(oldest);
    for (const Waiting& waiting : waiting_) {
      if (waiting.number == number) ranges -= waiting.records.size();
    }
    waiting_.remove_if([number](const Waiting& waiting) { return waiting.number == number; });
  }
}

}  // namespace varve
