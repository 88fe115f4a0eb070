// SPDX-License-Identifier: Apache-2.0

// Implements VerifySstFileChecksum, which checks one table file without a database.

#include <memory>
#include <string>

#include "varve/convenience.h"
#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/options.h"

#include "table/table_reader.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                             const std::string& file_path) {
  return VerifySstFileChecksum(options, env_options, ReadOptions(), file_path);
}

Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                             const ReadOptions& read_options, const std::string& file_path,
                             const SequenceNumber& largest_seqno) try {
  if (options.comparator == nullptr) {
    return Status::InvalidArgument("VerifySstFileChecksum: there is no comparator");
  }
  Env* const env = options.env != nullptr ? options.env : Env::Default();
  const std::shared_ptr<FileSystem> fs = env->GetFileSystem();
  uint64_t size = 0;
  VARVE_RETURN_IF_ERROR(fs->GetFileSize(file_path, IOOptions(), &size, nullptr));
  std::unique_ptr<RandomAccessFileReader> file;
  VARVE_RETURN_IF_ERROR(RandomAccessFileReader::Open(fs.get(), file_path, FileOptions(env_options),
                                                     RandomAccessFileReader::Options(), &file));
  const InternalKeyComparator icmp(options.comparator);
  TableOpenOptions open;
  open.icmp = &icmp;
  open.factory = options.table_factory;
  open.prefix_extractor = options.prefix_extractor;
  open.file_name = file_path;
  // The sequence number of an ingested table is in the MANIFEST, which is not read here: the caller
  // may give it.
  if (largest_seqno != 0) open.largest_seq = largest_seqno;
  std::unique_ptr<TableReader> reader;
  VARVE_RETURN_IF_ERROR(TableReader::Open(open, std::move(file), size, &reader));
  VARVE_ASSERT(reader != nullptr);
  return reader->VerifyChecksum(read_options);
} catch (...) {
  return CaughtException();
}

}  // namespace varve
