// SPDX-License-Identifier: Apache-2.0
#include "db/version/blob_holes.h"

#include <set>
#include <utility>

#include "util/base/assert.h"

namespace varve {

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

// A file that no version has is left at the largest number.
std::map<uint64_t, uint64_t> BlobHoles::OldestWith(const std::vector<VersionRef>& live) const {
  std::map<uint64_t, uint64_t> oldest;
  for (const Waiting& waiting : waiting_) oldest.emplace(waiting.number, UINT64_MAX);
  for (const VersionRef& version : live) {
    if (version->blob_files().empty()) continue;
    for (auto& [number, of_file] : oldest) {
      if (version->version_number() >= of_file) continue;
      if (version->blob_files().Find(number) != nullptr) of_file = version->version_number();
    }
  }
  return oldest;
}

// The state of a file may be forgotten while its garbage waits; then nothing is known of the file
// but its number, and the garbage goes as well. A reference to a file is taken only where there is
// room for it in *tasks, so that no exception can release it here.
void BlobHoles::TakeReady(const std::vector<VersionRef>& live,
                          const std::function<bool(uint32_t family)>& wanted,
                          std::vector<Task>* tasks) {
  VARVE_ASSERT(tasks->empty());
  if (empty()) return;
  const std::map<uint64_t, uint64_t> oldest = OldestWith(live);
  tasks->reserve(oldest.size());
  std::set<uint64_t> taken;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto known = files_.find(at->number);
    if (known != files_.end() && wanted(at->family)) {
      // A reader of an older version may still follow a reference that the later ones lack.
      if (oldest.at(at->number) < at->without) {
        ++at;
        continue;
      }
      known->second.garbage.Add(at->records);
      if (taken.insert(at->number).second) tasks->push_back({known->second.file.lock(), {}});
    }
    at = waiting_.erase(at);
  }
  std::erase_if(*tasks, [](const Task& task) { return task.file == nullptr; });
  for (Task& task : *tasks) {
    File& known = files_.at(task.file->number());
    ByteRanges holes = known.garbage.WholeBlocks(kHoleBlock);
    holes.Remove(known.punched);
    known.punched.Add(holes);
    task.holes = holes.List();
  }
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
