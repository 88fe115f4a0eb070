// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the DBOptions of an open database, as users gave them or changed them since. The options of
// a column family are in ColumnFamily.

#include <memory>
#include <utility>

#include "varve/options.h"

#include "db/db_mutex.h"
#include "util/base/assert.h"
#include "util/env/writable_file_writer.h"
#include "util/options/validate_options.h"

namespace varve {

// SetDBOptions replaces the options as a whole: a reader keeps the object that it got, which does
// not change. Thread safety: as annotated.
class DynamicOptions {
 public:
  explicit DynamicOptions(std::shared_ptr<const DBOptions> options)
      : current_(std::move(options)) {}
  DynamicOptions(const DynamicOptions&) = delete;
  DynamicOptions& operator=(const DynamicOptions&) = delete;

  // Returns the options in force. A copy of the pointer keeps them as they are.
  const std::shared_ptr<const DBOptions>& current() const VARVE_REQUIRES(kDbMutex) {
    return current_;
  }
  // Puts other options in force, for jobs and files that begin from now on.
  void Set(std::shared_ptr<const DBOptions> options) VARVE_REQUIRES(kDbMutex) {
    VARVE_ASSERT(options != nullptr);
    current_ = std::move(options);
  }

  // Returns the options of a new log's file.
  WritableFileWriter::Options LogWriterOptions() const VARVE_REQUIRES(kDbMutex) {
    WritableFileWriter::Options result;
    result.max_buffer_size = current_->writable_file_max_buffer_size;
    result.bytes_per_sync = current_->wal_bytes_per_sync;
    return result;
  }
  // Maximum numbers of jobs at a time, from max_background_jobs and its older forms.
  int MaxFlushes() const VARVE_REQUIRES(kDbMutex) {
    return DeriveDbOptions(*current_).max_background_flushes;
  }
  int MaxCompactions() const VARVE_REQUIRES(kDbMutex) {
    return DeriveDbOptions(*current_).max_background_compactions;
  }

 private:
  std::shared_ptr<const DBOptions> current_ VARVE_GUARDED_BY(kDbMutex);
};

}  // namespace varve
