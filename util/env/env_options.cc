// SPDX-License-Identifier: Apache-2.0
// Derives the file options that follow from DBOptions.

#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/options.h"

namespace varve {

EnvOptions::EnvOptions(const DBOptions& options)
    : use_mmap_reads(options.allow_mmap_reads),
      use_mmap_writes(options.allow_mmap_writes),
      use_direct_reads(options.use_direct_reads),
      allow_fallocate(options.allow_fallocate),
      set_fd_cloexec(options.is_fd_close_on_exec),
      bytes_per_sync(options.bytes_per_sync),
      strict_bytes_per_sync(options.strict_bytes_per_sync),
      compaction_readahead_size(options.compaction_readahead_size),
      writable_file_max_buffer_size(options.writable_file_max_buffer_size),
      rate_limiter(options.rate_limiter.get()) {}

EnvOptions Env::OptimizeForLogWrite(const EnvOptions& env_options,
                                    const DBOptions& db_options) const {
  EnvOptions out = env_options;
  out.bytes_per_sync = db_options.wal_bytes_per_sync;
  out.writable_file_max_buffer_size = db_options.writable_file_max_buffer_size;
  return out;
}

FileOptions FileSystem::OptimizeForLogWrite(const FileOptions& file_options,
                                            const DBOptions& db_options) const {
  FileOptions out = file_options;
  out.bytes_per_sync = db_options.wal_bytes_per_sync;
  out.writable_file_max_buffer_size = db_options.writable_file_max_buffer_size;
  return out;
}

}  // namespace varve
