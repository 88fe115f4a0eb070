// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands for RocksDB's compaction filter of Cassandra rows, which Varve does not have: it keeps
// every entry.

#include "varve/compaction_filter.h"

namespace varve::cassandra {

class CassandraCompactionFilter : public CompactionFilter {
 public:
  CassandraCompactionFilter(bool /*purge_ttl_on_expiration*/, int /*gc_grace_period_in_seconds*/) {}

  const char* Name() const override { return "CassandraCompactionFilter"; }
};

}  // namespace varve::cassandra
