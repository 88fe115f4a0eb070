// SPDX-License-Identifier: Apache-2.0
// Implements environments, logs, rate limits and paths for the C API.
#include <cstdarg>
#include <cstdio>

#include "db/api/c/c_types.h"

using varve::Env;
using varve::InfoLogLevel;
using varve::Logger;
using varve::Status;
using varve::c::Make;
using varve::c::NullArgument;
using varve::c::Try;
using varve::c::TryVoid;

namespace {

InfoLogLevel ToLevel(int level) {
  const bool known = level >= 0 && level < varve::NUM_INFO_LOG_LEVELS;
  return known ? static_cast<InfoLogLevel>(level) : varve::INFO_LEVEL;
}

// Returns the formatted text; empty when out of memory.
std::string Format(const char* format, va_list ap) {
  va_list again;
  va_copy(again, ap);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size <= 0) return "";
  std::string text(static_cast<size_t>(size) + 1, '\0');
  // The first pass gave the length without the terminator, which is cut off again.
  std::vsnprintf(text.data(), text.size(), format, ap);
  text.pop_back();
  return text;
}

// Writes each entry, after `prefix`, as a line to the standard error.
class StderrLogger final : public Logger {
 public:
  StderrLogger(InfoLogLevel level, std::string prefix)
      : Logger(level), prefix_(std::move(prefix)) {}

  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    const std::string line = prefix_ + Format(format, ap) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

 private:
  const std::string prefix_;
};

// Passes each entry and its level to a callback, which may run on several threads at once.
class CallbackLogger final : public Logger {
 public:
  using Callback = void (*)(void*, unsigned, char*, size_t);

  CallbackLogger(InfoLogLevel level, Callback callback, void* state)
      : Logger(level), callback_(callback), state_(state) {}

  using Logger::Logv;
  void Logv(const char* format, va_list ap) override { Logv(varve::INFO_LEVEL, format, ap); }
  void Logv(const InfoLogLevel level, const char* format, va_list ap) override {
    if (callback_ == nullptr || level < GetInfoLogLevel()) return;
    std::string text = Format(format, ap);
    callback_(state_, level, text.data(), text.size());
  }

 private:
  const Callback callback_;
  void* const state_;
};

template <typename Change>
void ChangeEnv(rocksdb_env_t* env, Change change) {
  if (env != nullptr) TryVoid([&] { change(env->rep); });
}

int Threads(rocksdb_env_t* env, Env::Priority pool) {
  return env == nullptr ? 0 : Try([&] { return env->rep->GetBackgroundThreads(pool); });
}

}  // namespace

rocksdb_env_t* rocksdb_create_default_env() {
  return Make<rocksdb_env_t>(Env::Default(), false);
}

rocksdb_env_t* rocksdb_create_mem_env() {
  return Try([]() -> rocksdb_env_t* {
    std::unique_ptr<Env> env(varve::NewMemEnv(Env::Default()));
    auto* handle = new rocksdb_env_t{env.get(), true};
    env.release();
    return handle;
  });
}

void rocksdb_env_destroy(rocksdb_env_t* env) {
  if (env != nullptr && env->owned) delete env->rep;
  delete env;
}

void rocksdb_env_set_background_threads(rocksdb_env_t* env, int n) {
  ChangeEnv(env, [&](Env* e) { e->SetBackgroundThreads(n); });
}

int rocksdb_env_get_background_threads(rocksdb_env_t* env) {
  return Threads(env, Env::LOW);
}

void rocksdb_env_set_high_priority_background_threads(rocksdb_env_t* env, int n) {
  ChangeEnv(env, [&](Env* e) { e->SetBackgroundThreads(n, Env::HIGH); });
}

int rocksdb_env_get_high_priority_background_threads(rocksdb_env_t* env) {
  return Threads(env, Env::HIGH);
}

void rocksdb_env_set_low_priority_background_threads(rocksdb_env_t* env, int n) {
  ChangeEnv(env, [&](Env* e) { e->SetBackgroundThreads(n, Env::LOW); });
}

int rocksdb_env_get_low_priority_background_threads(rocksdb_env_t* env) {
  return Threads(env, Env::LOW);
}

void rocksdb_env_set_bottom_priority_background_threads(rocksdb_env_t* env, int n) {
  ChangeEnv(env, [&](Env* e) { e->SetBackgroundThreads(n, Env::BOTTOM); });
}

int rocksdb_env_get_bottom_priority_background_threads(rocksdb_env_t* env) {
  return Threads(env, Env::BOTTOM);
}

void rocksdb_env_join_all_threads(rocksdb_env_t* env) {
  ChangeEnv(env, [](Env* e) { e->WaitForJoin(); });
}

void rocksdb_env_lower_thread_pool_io_priority(rocksdb_env_t* env) {
  ChangeEnv(env, [](Env* e) { e->LowerThreadPoolIOPriority(); });
}

void rocksdb_env_lower_high_priority_thread_pool_io_priority(rocksdb_env_t* env) {
  ChangeEnv(env, [](Env* e) { e->LowerThreadPoolIOPriority(Env::HIGH); });
}

void rocksdb_env_lower_thread_pool_cpu_priority(rocksdb_env_t* env) {
  ChangeEnv(env, [](Env* e) { e->LowerThreadPoolCPUPriority(); });
}

void rocksdb_env_lower_high_priority_thread_pool_cpu_priority(rocksdb_env_t* env) {
  ChangeEnv(env, [](Env* e) { e->LowerThreadPoolCPUPriority(Env::HIGH); });
}

void rocksdb_create_dir_if_missing(rocksdb_env_t* env, const char* path, char** errptr) {
  varve::c::Run(errptr, [&]() -> Status {
    if (env == nullptr || path == nullptr) return NullArgument("env or path");
    return env->rep->CreateDirIfMissing(path);
  });
}

rocksdb_logger_t* rocksdb_logger_create_stderr_logger(int log_level, const char* prefix) {
  return Try([&] {
    return new rocksdb_logger_t{
        std::make_shared<StderrLogger>(ToLevel(log_level), prefix == nullptr ? "" : prefix)};
  });
}

rocksdb_logger_t* rocksdb_logger_create_callback_logger(
    int log_level, void (*callback)(void* priv, unsigned lev, char* msg, size_t len), void* priv) {
  return Try([&] {
    return new rocksdb_logger_t{
        std::make_shared<CallbackLogger>(ToLevel(log_level), callback, priv)};
  });
}

rocksdb_ratelimiter_t* rocksdb_ratelimiter_create(int64_t rate_bytes_per_sec,
                                                  int64_t refill_period_us, int32_t fairness) {
  return rocksdb_ratelimiter_create_with_mode(
      rate_bytes_per_sec, refill_period_us, fairness,
      static_cast<int>(varve::RateLimiter::Mode::kWritesOnly), false);
}

rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_auto_tuned(int64_t rate_bytes_per_sec,
                                                             int64_t refill_period_us,
                                                             int32_t fairness) {
  return rocksdb_ratelimiter_create_with_mode(
      rate_bytes_per_sec, refill_period_us, fairness,
      static_cast<int>(varve::RateLimiter::Mode::kWritesOnly), true);
}

rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_with_mode(int64_t rate_bytes_per_sec,
                                                            int64_t refill_period_us,
                                                            int32_t fairness, int mode,
                                                            bool auto_tuned) {
  // The C++ function has no status with which it could refuse its arguments.
  const bool valid =
      rate_bytes_per_sec > 0 && refill_period_us > 0 && fairness > 0 && mode >= 0 && mode <= 2;
  if (!valid) return varve::c::CouldNotMake<rocksdb_ratelimiter_t>();
  return Try([&] {
    return new rocksdb_ratelimiter_t{std::shared_ptr<varve::RateLimiter>(
        varve::NewGenericRateLimiter(rate_bytes_per_sec, refill_period_us, fairness,
                                     static_cast<varve::RateLimiter::Mode>(mode), auto_tuned))};
  });
}

rocksdb_dbpath_t* rocksdb_dbpath_create(const char* path, uint64_t target_size) {
  if (path == nullptr) return nullptr;
  return Try([&] { return new rocksdb_dbpath_t{varve::DbPath(path, target_size)}; });
}
