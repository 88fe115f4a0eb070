// SPDX-License-Identifier: Apache-2.0
#include "tools/db_bench/tracing.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "varve/db.h"
#include "varve/trace_reader_writer.h"

#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

Tracing::Tracing(const Database& database) : database_(database) {
  std::unique_ptr<TraceWriter> writer;
  Status s = NewFileTraceWriter(database.options().env, EnvOptions(), FLAGS_trace_file, &writer);
  if (s.ok()) s = database.db()->StartTrace(TraceOptions(), std::move(writer));
  if (!s.ok()) Fail("--trace_file=" + FLAGS_trace_file, s);
  std::printf("Tracing the workload to: [%s]\n", FLAGS_trace_file.c_str());
}

Tracing::~Tracing() {
  const Status s = database_.db()->EndTrace();
  if (!s.ok()) Fail("--trace_file=" + FLAGS_trace_file, s);
}

}  // namespace varve::bench
