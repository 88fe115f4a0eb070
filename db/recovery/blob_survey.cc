// SPDX-License-Identifier: Apache-2.0

// Decides which blob files a repaired family keeps. The MANIFEST has for each table either its
// exact references (blob_shares) or only the oldest file that it refers to; then every later file
// with values that are not garbage may be needed. Counts of garbage are lowered where the tables
// prove them too high, since otherwise a file could be deleted while tables refer to it.

#include "db/recovery/blob_survey.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "db/blob/blob_file_reader.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// The blob files that tables may refer to.
struct Wanted {
  std::map<uint64_t, BlobShare> known;
  std::set<uint64_t> oldest;  // Files that are certainly referred to.
  uint64_t oldest_unknown = UINT64_MAX;

  void Add(const NewFile& table) {
    if (table.oldest_blob_file_number == 0) return;
    oldest.insert(table.oldest_blob_file_number);
    if (table.blob_shares.empty()) {
      oldest_unknown = std::min(oldest_unknown, table.oldest_blob_file_number);
    }
    for (const BlobShare& share : table.blob_shares) {
      known[share.file].count += share.count;
      known[share.file].bytes += share.bytes;
    }
  }

  // Returns the files that the tables refer to or, where that is not known, may refer to.
  std::set<uint64_t> Needed(const SurveyedFamily& family) const {
    std::set<uint64_t> needed = oldest;
    for (const auto& [number, share] : known) needed.insert(number);
    for (const auto& [number, facts] : family.blob_files) {
      const auto garbage = family.blob_garbage.find(number);
      const bool all_garbage =
          garbage != family.blob_garbage.end() && garbage->second.count >= facts.count;
      if (number >= oldest_unknown && !all_garbage) needed.insert(number);
    }
    return needed;
  }

  // Corrects a count of garbage in the old MANIFEST. It may include values that tables refer to, if
  // the tables that a lost edit removed are back. If all references are known, all other values are
  // garbage.
  void Correct(const BlobFileFacts& file, BlobGarbage* sum) const {
    const auto found = known.find(file.number);
    const BlobShare kept = found == known.end() ? BlobShare() : found->second;
    // A file that is needed keeps at least one value, even if no table says how many; the smallest
    // record is a header alone.
    const uint64_t count = std::max<uint64_t>(kept.count, 1);
    const uint64_t bytes = std::max<uint64_t>(kept.bytes, BlobRecordHeader::kBytes);
    const uint64_t most_count = file.count - std::min(file.count, count);
    const uint64_t most_bytes = file.bytes - std::min(file.bytes, bytes);
    const bool exact = file.number < oldest_unknown;
    sum->number = file.number;
    sum->count = exact ? most_count : std::min(sum->count, most_count);
    sum->bytes = exact ? most_bytes : std::min(sum->bytes, most_bytes);
  }
};

Wanted WantedBy(const SurveyedFamily& family, const std::vector<const NewFile*>& copied) {
  Wanted wanted;
  for (const auto& [number, table] : family.files) wanted.Add(table);
  for (const NewFile* table : copied) wanted.Add(*table);
  return wanted;
}

// Verifies the whole file. Sets *facts to its counts unless `is_known`. Holes are no damage as long
// as the garbage, as far as the old MANIFEST counts it, and as the tables tell, may be as large.
Status CheckBlobFile(const BlobFileOpenOptions& options, uint64_t number, const std::string& path,
                     bool is_known, const Wanted& wanted, BlobGarbage garbage,
                     BlobFileFacts* facts) {
  std::unique_ptr<BlobFileReader> reader;
  const uint64_t size = is_known ? facts->FileSize() : BlobFileReader::kAnySize;
  Status s = BlobFileReader::Open(options, number, path, size, &reader);
  if (!s.ok()) return s;
  if (!is_known) {
    facts->number = number;
    facts->count = reader->blob_count();
    facts->bytes = reader->file_size() - kBlobFileFrameBytes;
  }
  wanted.Correct(*facts, &garbage);
  return reader->VerifyChecksums(ReadOptions(), nullptr, {garbage.count, garbage.bytes});
}

}  // namespace

std::set<uint64_t> NeededBlobFiles(const SurveyedFamily& family) {
  return WantedBy(family, {}).Needed(family);
}

std::vector<NeededBlobFile> DescribeNeededBlobFiles(const SurveyedFamily& family) {
  const Wanted wanted = WantedBy(family, {});
  std::vector<NeededBlobFile> files;
  for (const uint64_t number : wanted.Needed(family)) {
    const auto facts = family.blob_files.find(number);
    if (facts == family.blob_files.end()) continue;
    NeededBlobFile& file = files.emplace_back();
    file.facts = facts->second;
    const auto garbage = family.blob_garbage.find(number);
    if (garbage != family.blob_garbage.end()) file.garbage = garbage->second;
    wanted.Correct(file.facts, &file.garbage);
  }
  return files;
}

// Drops the files that no table needs, reads each that is needed, and then corrects the sums of
// garbage of those that are left.
void SurveyBlobFiles(const std::shared_ptr<FileSystem>& fs, uint32_t family_id,
                     const TablePaths& paths, const std::vector<const NewFile*>& copied,
                     SurveyedFamily* family, RepairReport* report, bool* lost) {
  const Wanted wanted = WantedBy(*family, copied);
  const std::set<uint64_t> needed = wanted.Needed(*family);
  std::erase_if(family->blob_files, [&](const auto& file) { return !needed.contains(file.first); });
  BlobFileOpenOptions options;
  options.fs = fs;
  options.column_family_id = family_id;
  for (const uint64_t number : needed) {
    const bool is_known = family->blob_files.contains(number);
    BlobFileFacts facts = is_known ? family->blob_files[number] : BlobFileFacts();
    const auto garbage = family->blob_garbage.find(number);
    const Status s = CheckBlobFile(
        options, number, paths.BlobFileName(number), is_known, wanted,
        garbage == family->blob_garbage.end() ? BlobGarbage() : garbage->second, &facts);
    if (!s.ok()) {
      report->lost.push_back({BlobFileBaseName(number), family->name, s.ToString()});
      *lost = true;
    }
    const bool exists = fs->FileExists(paths.BlobFileName(number), IOOptions(), nullptr).ok();
    // Number 0: the MANIFEST lacks the file, and it could not be opened, so nothing is known of it.
    if (exists && facts.number != 0) {
      family->blob_files[number] = facts;
    } else {
      family->blob_files.erase(number);
    }
  }
  std::erase_if(family->blob_garbage,
                [&](const auto& file) { return !family->blob_files.contains(file.first); });
  for (const auto& [number, facts] : family->blob_files) {
    wanted.Correct(facts, &family->blob_garbage[number]);
  }
  std::erase_if(family->blob_garbage,
                [](const auto& file) { return file.second.count == 0 && file.second.bytes == 0; });
}

}  // namespace varve
