// SPDX-License-Identifier: Apache-2.0

// Blob files that no table needs are left out, as the next opening deletes them. One that tables
// need and that the MANIFEST does not name is damage, whatever is in the directory: no reader finds
// a value in it. Damage in the header, the footer or a record ends the check of that file.

#include "tools/varve/check_blobs.h"

#include <memory>

#include "db/blob/blob_file_reader.h"
#include "db/recovery/blob_survey.h"
#include "db/version/table_paths.h"
#include "tools/varve/check_whole_file.h"
#include "util/base/status_macros.h"
#include "util/env/io_error.h"

namespace varve::tool {

namespace {

// The header has no checksum. Most of its bytes have one right value; the codec is compared with
// that of the references.
constexpr size_t kCodecOffset = 13;

Status CheckFrame(const BlobFileReader& reader, const BlobFileFacts& facts,
                  const CompressionType* codec) {
  if (reader.blob_count() != facts.count) {
    return Status::Corruption(reader.file_name(),
                              "a footer that counts " + std::to_string(reader.blob_count()) +
                                  " records, though the MANIFEST says " +
                                  std::to_string(facts.count) + ", at offset " +
                                  std::to_string(facts.FileSize() - BlobFileFooter::kBytes));
  }
  if (codec != nullptr && reader.compression() != *codec) {
    return Status::Corruption(reader.file_name(), "another codec than the tables say at offset " +
                                                      std::to_string(kCodecOffset));
  }
  return Status::OK();
}

// Reads the file and returns the first damage. Holes in as much as is garbage are none. `codec` may
// be null.
Status ReadBlobFile(uint32_t id, const BlobFileFacts& facts, const BlobGarbage& garbage,
                    const CompressionType* codec, const std::string& path, bool quick) {
  BlobFileOpenOptions options;
  options.fs = FileSystem::Default();
  options.column_family_id = id;
  std::unique_ptr<BlobFileReader> reader;
  VARVE_RETURN_IF_ERROR(
      BlobFileReader::Open(options, facts.number, path, facts.FileSize(), &reader));
  VARVE_RETURN_IF_ERROR(CheckFrame(*reader, facts, codec));
  if (quick) return Status::OK();
  return reader->VerifyChecksums(ReadOptions(), nullptr, {garbage.count, garbage.bytes});
}

}  // namespace

std::string BlobPathOf(const TableFamily& where, uint64_t number) {
  const auto& own = where.options.cf_paths;
  return TablePaths(where.db, own.empty() ? where.db_options.db_paths : own).BlobFileName(number);
}

Status CheckBlobs(const TableFamily& where, uint32_t id, const SurveyedFamily& family,
                  const std::map<uint64_t, CompressionType>& codecs, bool quick, Findings* findings,
                  std::vector<uint64_t>* missing) {
  for (const uint64_t number : NeededBlobFiles(family)) {
    const std::string path = BlobPathOf(where, number);
    const auto found = family.blob_files.find(number);
    if (found == family.blob_files.end()) {
      findings->Damage(path, "is not named by the MANIFEST, though a table refers to it");
      continue;
    }
    const BlobFileFacts& facts = found->second;
    const auto codec = codecs.find(number);
    const auto garbage = family.blob_garbage.find(number);
    const Status s = ReadBlobFile(
        id, facts, garbage == family.blob_garbage.end() ? BlobGarbage() : garbage->second,
        codec == codecs.end() ? nullptr : &codec->second, path, quick);
    if (IsMissing(s)) {
      missing->push_back(number);
      continue;
    }
    // The system failed and not the file, as in the check of tables.
    if (s.IsIOError() || s.IsMemoryLimit()) return s;
    findings->CountFile(facts.FileSize());
    if (!s.ok()) {
      findings->Damage(path, s.ToString());
    } else if (!quick) {
      VARVE_RETURN_IF_ERROR(CheckWholeFile(where.db_options, path, facts.checksum.function,
                                           facts.checksum.value, findings));
    }
  }
  return Status::OK();
}

}  // namespace varve::tool
