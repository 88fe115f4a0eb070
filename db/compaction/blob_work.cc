// SPDX-License-Identifier: Apache-2.0

// Decides what a compaction does with values in blob files: which ones it separates, and from which
// files it takes values over, so that those files become garbage as a whole. Automatic level
// compactions take over from the files that the picker has chosen as victims; others from the
// oldest part of all files, as blob_garbage_collection_age_cutoff says.

#include "db/compaction/blob_work.h"

#include <algorithm>
#include <string>

#include "db/version/blob_source.h"
#include "db/version/entry_place.h"
#include "util/base/status_macros.h"

namespace varve {

uint64_t BlobCutoff(const BlobFiles& files, double age_cutoff) {
  const auto old = static_cast<size_t>(age_cutoff * static_cast<double>(files.size()));
  if (old == 0) return 0;
  return old >= files.size() ? UINT64_MAX : files[old].number();
}

// Values that are referred to are moved to new blob files only if blob garbage is to be collected:
// from the files that the picker chose as victims in an automatic compaction of the leveled style,
// otherwise from the files that are old by the age cutoff.
BlobPolicy BlobPolicyOf(const ColumnFamilyOptions& options, const CompactionPlan& plan,
                        bool persists_timestamps) {
  BlobPolicy policy;
  policy.separates = options.enable_blob_files && persists_timestamps &&
                     plan.output_level >= options.blob_file_starting_level;
  policy.has_references = std::ranges::any_of(plan.inputs, [](const auto& level) {
    return std::ranges::any_of(
        level.files, [](const FileRef& file) { return file->oldest_blob_file_number != 0; });
  });
  if (!policy.has_references || !plan.blob_garbage.Collects(options)) return policy;
  if (!plan.is_manual && options.compaction_style == kCompactionStyleLevel) {
    policy.victims = plan.blob_victims;
  } else {
    policy.relocate_below =
        BlobCutoff(plan.version->blob_files(), plan.blob_garbage.AgeCutoff(options));
  }
  return policy;
}

// An upper bound of what the job may write to blob files, by which space is asked for beforehand.
uint64_t MostBlobBytes(const BlobPolicy& policy, const CompactionPlan& plan) {
  uint64_t bytes = policy.separates ? plan.InputBytes() : 0;
  // A table without shares may refer to every blob file from its oldest one on.
  uint64_t unknown_from = UINT64_MAX;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) {
      for (const BlobShare& share : file->blob_shares) {
        if (policy.Relocates(share.file)) bytes += share.bytes;
      }
      if (file->blob_shares.empty() && file->oldest_blob_file_number != 0) {
        unknown_from = std::min(unknown_from, file->oldest_blob_file_number);
      }
    }
  }
  for (const BlobFileState& file : plan.version->blob_files()) {
    if (file.number() >= unknown_from && policy.Relocates(file.number())) {
      bytes += file.bytes() - file.garbage_bytes;
    }
  }
  return bytes;
}

bool BlobInputs::IsLost(const Slice& encoded_reference) const {
  BlobReference reference;
  return BlobReference::DecodeInDatabase(encoded_reference, &reference).ok() &&
         version_->blob_files().Find(reference.file_number) == nullptr;
}

Status BlobInputs::Get(const Slice& user_key, const Slice& encoded_reference,
                       PinnableSlice* value) {
  const Status s = Read(user_key, encoded_reference, value);
  if (s.ok()) return s;
  return NameTableOfEntry(BlobErrorOfKey(s, user_key, shows_keys_), options_, *version_, cache_,
                          version_->icmp()->WithoutTimestamp(user_key), kMaxSequenceNumber);
}

// Each blob file that is read has a prefetcher of its own, as the values of one file mostly come in
// the order in which they lie there. Counts only values that were read.
Status BlobInputs::Read(const Slice& user_key, const Slice& encoded_reference,
                        PinnableSlice* value) {
  BlobReference reference;
  VARVE_RETURN_IF_ERROR(BlobReference::DecodeInDatabase(encoded_reference, &reference));
  const BlobFileState* const file = version_->blob_files().Find(reference.file_number);
  if (file == nullptr) {
    return Status::Corruption("an entry refers to a file that is not in the MANIFEST",
                              reference.ToString());
  }
  BlobReaderPin reader;
  VARVE_RETURN_IF_ERROR(cache_->blobs().Pin(options_, *file->blobs, &reader));
  FilePrefetcher* prefetcher = nullptr;
  if (readahead_ > 0) {
    const auto made = prefetchers_.try_emplace(
        reference.file_number, FilePrefetcher::Fixed(static_cast<size_t>(readahead_)));
    prefetcher = &made.first->second;
  }
  uint64_t bytes = 0;
  VARVE_RETURN_IF_ERROR(reader->Get(options_, user_key, reference, prefetcher, value, &bytes));
  blobs_read_++;
  bytes_read_ += bytes;
  return Status::OK();
}

}  // namespace varve
