// SPDX-License-Identifier: Apache-2.0
// Defines the flags of workload_flags.inc, and checks their values.

#include "tools/db_bench/flags.h"

namespace {

bool IsPercentage(const char* /*flag*/, int32_t value) {
  return value >= 0 && value <= 100;
}

bool IsPositive(const char* /*flag*/, int32_t value) {
  return value > 0;
}

bool IsTimestampSize(const char* /*flag*/, int32_t value) {
  return value == 0 || value == 8;
}

bool IsShare(const char* /*flag*/, double value) {
  return value >= 0.0 && value <= 1.0;
}

bool IsSpeed(const char* /*flag*/, double value) {
  return value > 0.0;
}

bool IsThreadCount(const char* /*flag*/, int32_t value) {
  return value >= 1 && value <= 1024;
}

}  // namespace

#define VARVE_FLAG(type, name, default_value, help) DEFINE_##type(name, default_value, help);
#include "tools/db_bench/workload_flags.inc"
#undef VARVE_FLAG

DEFINE_validator(readwritepercent, &IsPercentage);
DEFINE_validator(deletepercent, &IsPercentage);
DEFINE_validator(mergereadpercent, &IsPercentage);
DEFINE_validator(threads, &IsPositive);
DEFINE_validator(key_size, &IsPositive);
DEFINE_validator(user_timestamp_size, &IsTimestampSize);
DEFINE_validator(num_column_families, &IsPositive);
DEFINE_validator(ops_between_duration_checks, &IsPositive);
DEFINE_validator(overwrite_probability, &IsShare);
DEFINE_validator(trace_replay_fast_forward, &IsSpeed);
DEFINE_validator(trace_replay_threads, &IsThreadCount);
