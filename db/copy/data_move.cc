// SPDX-License-Identifier: Apache-2.0

// Runs a call that moves data, and reports its duration and outcome in the LOG and to listeners.

#include "db/copy/data_move.h"

#include <array>
#include <cstddef>

#include "db/copy/copy_pool.h"
#include "db/engine/engine.h"
#include "db/engine/events.h"
#include "util/base/caught_exception.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

const char* NameOf(DataMoveInfo::Kind kind) {
  static constexpr std::array kNames = {"checkpoint", "export",  "import",
                                        "backup",     "restore", "promotion"};
  static_assert(kNames.size() == static_cast<size_t>(DataMoveInfo::Kind::kPromotion) + 1);
  const auto number = static_cast<size_t>(kind);
  return number < kNames.size() ? kNames[number] : "move of data";
}

}  // namespace

// Listeners are notified of failures too, without any lock held. Their exceptions do not change the
// outcome.
Status MoveData(Engine* engine, DataMoveInfo::Kind kind, const std::string& path,
                const std::function<Status(DataMoveInfo* info)>& work) {
  const DbContext& context = engine->context;
  DataMoveInfo info;
  info.kind = kind;
  info.path = path;
  const uint64_t began = context.MonotonicMicros();
  info.status = Guarded([&] { return work(&info); });
  info.micros = context.MonotonicMicros() - began;
  BestEffort([&] {
    LogInfo(context.info_log(), "%s %s: %s; %llu files, %llu bytes linked, %llu copied",
            NameOf(kind), path.c_str(), info.status.ToString().c_str(),
            static_cast<unsigned long long>(info.files),
            static_cast<unsigned long long>(info.bytes_linked),
            static_cast<unsigned long long>(info.bytes_copied));
  });
  if (events::Wanted(context)) events::DataMoved(context, info);
  return info.status;
}

void CountFiles(const std::vector<CopyTask>& tasks, DataMoveInfo* info) {
  info->files += tasks.size();
  for (const CopyTask& task : tasks) {
    info->bytes_copied += task.bytes;
    if (task.linked) info->bytes_linked += task.size;
  }
}

}  // namespace varve
