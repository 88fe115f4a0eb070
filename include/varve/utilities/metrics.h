// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes what a database counts and measures as a text for collectors: Prometheus, OpenMetrics or
// JSON. RocksDB has no equivalent.
//
// The library opens no port and starts no thread for this. A program serves the text itself, or
// writes it to a file that a collector reads.

#include <map>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

// Options of WriteMetrics and DumpMetricsToFile.
struct MetricsOptions {
  // The form of the text.
  enum class Format {
    // Prometheus text of version 0.0.4.
    kPrometheus,
    // OpenMetrics text of version 1.0.0, which ends in "# EOF".
    kOpenMetrics,
    // One JSON object: {"metrics": [{"name": ..., "type": ..., "labels": ..., ...}, ...]}.
    kJson,
  };
  Format format = Format::kPrometheus;
  // Names of column families; empty: all. A name that does not exist is InvalidArgument.
  std::vector<std::string> families;
  // Beginning of every name; may be empty. InvalidArgument unless it consists of letters, digits
  // and '_', and does not begin with a digit.
  std::string prefix = "varve_";
  // Labels of every sample, beside those of the library: "db" (the database's directory), "cf",
  // "level", "quantile", "owner" and "condition". InvalidArgument for a name that is empty, has
  // other characters than those of `prefix`, begins with a digit, or is one of these six.
  std::map<std::string, std::string> labels;
};

// Replaces *out by all metrics of the database at this moment. Counters and latencies of Statistics
// are there if DBOptions::statistics is set; counters of flushes, compactions and writes always.
// Counters never decrease while the database is open, but for ResetStats and Statistics::Reset.
// Thread-safe; takes the database's mutex for microseconds at a time.
//
// Returns InvalidArgument for null arguments and bad options, with *out unchanged; NotSupported for
// a DB of another implementation; ShutdownInProgress if the database is closed.
VARVE_EXPORT Status WriteMetrics(DB* db, const MetricsOptions& options, std::string* out);

// Writes the same text to the file `path` by way of a temporary file beside it, so that readers of
// the file never see half a text. Returns IOError if that fails; an older file stays then.
VARVE_EXPORT Status DumpMetricsToFile(DB* db, const MetricsOptions& options,
                                      const std::string& path);

}  // namespace varve
