// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds the options of a read from the words of a line: lower=, upper=, skippable=N, and the flags
// same (prefix), tailing, ignore (range deletions).

#include <string>

#include "tests/differential/c_api.h"
#include "tests/harness/history_text.h"

namespace varve::testing {

class CReadOptions {
 public:
  // `api` must outlive this.
  CReadOptions(const CApi* api, const Line& line, const rocksdb_snapshot_t* snapshot);
  ~CReadOptions();
  CReadOptions(const CReadOptions&) = delete;
  CReadOptions& operator=(const CReadOptions&) = delete;

  rocksdb_readoptions_t* get() const { return options_; }

 private:
  const CApi& api_;
  rocksdb_readoptions_t* const options_;
  // RocksDB keeps pointers to them.
  const std::string lower_;
  const std::string upper_;
};

}  // namespace varve::testing
