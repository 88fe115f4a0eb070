// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/engine_parts.h"

#include <set>
#include <utility>

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/engine/write_host.h"
#include "db/recovery/families.h"
#include "db/recovery/identity.h"
#include "db/recovery/sanitize.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"

namespace varve {

std::shared_ptr<Engine> MakeEngine(const OpenRequest& request) {
  // GetOptions must return relative paths as the user gave them.
  auto given = std::make_shared<const DBOptions>(SanitizeOptions(request.name, request.options));
  FileSystem* const fs = given->env->GetFileSystem().get();
  DbContext::Identity identity;
  identity.name = AbsolutePath(fs, request.name);
  identity.given_name =
      request.follower_directory.empty() ? request.name : request.follower_directory;
  const DBOptions options = SanitizeOptions(identity.name, WithAbsolutePaths(fs, *given));
  identity.session_id = NewSessionId(options.env);
  identity.host_name = HostNameForTables(options);
  identity.read_only = request.read_only;
  identity.follows = request.follows;
  auto engine = std::make_shared<Engine>(std::move(identity), options, std::move(given));
  engine->state.mu.CountWaits(engine->context.statistics());
  engine->jobs = std::make_shared<Jobs>(engine.get());
  return engine;
}

Status CheckFamilies(const DBOptions& options,
                     const std::vector<ColumnFamilyDescriptor>& families) {
  std::set<std::string> names;
  for (const ColumnFamilyDescriptor& family : families) {
    if (!names.insert(family.name).second) {
      return Status::InvalidArgument("open: column family named twice", family.name);
    }
    VARVE_RETURN_IF_ERROR(CheckFamily(options, family));
  }
  if (names.count(kDefaultColumnFamilyName) == 0) {
    return Status::InvalidArgument("open: the column family \"default\" is not named");
  }
  return Status::OK();
}

// Must come after the replay, as the commit path begins after the last replayed sequence number. A
// secondary has no replay, and gives it the number as it reads on (CommitPath::StartFrom).
void MakeWritePath(Engine* engine) {
  Engine& e = *engine;
  e.host = std::make_unique<WriteHost>(e.context, &e.state, &e.errors, &e.stalls.slow_path());
  CommitOptions commit;
  if (e.context.options().unordered_write) commit.mode = CommitMode::kUnordered;
  commit.insert_one_at_a_time = !e.context.options().allow_concurrent_memtable_write;
  VARVE_ASSERT(e.state.commit == nullptr && e.state.logs != nullptr);
  e.state.families_known_from = e.state.versions->last_sequence() + 1;
  e.state.commit = NewCommitPath(commit, e.host.get(), e.state.versions->last_sequence());
  VARVE_ASSERT(e.admission == nullptr);
  e.admission = std::make_unique<WriteAdmission>(
      WriteAdmission::Parts{&e.state.mu, e.state.commit.get(), e.context, e.lifecycle, e.stalls,
                            e.errors, e.log_gate, e.jobs->flush, e.jobs->compaction});
}

}  // namespace varve
