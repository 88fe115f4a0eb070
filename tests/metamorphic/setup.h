// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what must not change any answer: the options of one run, and what its databases share. A
// set is a number; its databases are opened with one of a few variations of it.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/cache.h"
#include "varve/compaction_filter.h"
#include "varve/listener.h"
#include "varve/options.h"
#include "varve/rate_limiter.h"
#include "varve/write_buffer_manager.h"

#include "tests/model/option_sets.h"

namespace varve::testing {

class Setup {
 public:
  explicit Setup(uint64_t seed);

  // Returns options that use `env`.
  OptionSet Draw(uint64_t variation, Env* env) const;
  // Returns the options of a family in the database opened with `set`.
  static ColumnFamilyOptions FamilyOptions(const OptionSet& set, const Comparator* order,
                                           const std::string& name, bool filtered);
  const WriteBufferManager* memory() const { return memory_.get(); }
  const std::shared_ptr<Cache>& cache() const { return cache_; }
  // True if other threads read all the time.
  bool has_company() const { return has_company_; }
  // True if files in memory can be mapped.
  bool maps_files() const { return maps_files_; }

 private:
  void DrawMore(Random* random, OptionSet* set) const;

  const uint64_t seed_;
  bool maps_files_;
  bool has_company_;
  int num_levels_;
  std::shared_ptr<Cache> cache_;
  std::shared_ptr<RateLimiter> limiter_;
  std::shared_ptr<WriteBufferManager> memory_;
};

}  // namespace varve::testing
