// SPDX-License-Identifier: Apache-2.0

//       check places and families -> [lock and link directory of a follower] -> LOG -> version set
//         -> logs, commit path -> Secondary::Open catches up once; only then is the engine returned
//
// All files that are written are in secondary_path: the LOG, and the links of a follower. The
// engine has all parts of a writer's, so that it can be promoted.

#include "db/follow/open_secondary.h"

#include <utility>

#include "db/engine/engine.h"
#include "db/follow/linked_tables.h"
#include "db/follow/secondary.h"
#include "db/recovery/database_directory.h"
#include "db/recovery/engine_parts.h"
#include "db/recovery/families.h"
#include "db/recovery/sanitize.h"
#include "db/recovery/table_directories.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// Checks that the secondary's directory is not one of the primary's, whose LOG it would replace.
Status CheckPlaces(const DbContext& context, const std::string& path) {
  if (context.name().empty()) {
    return Status::InvalidArgument("open as secondary: the database's name is empty");
  }
  if (path.empty()) return Status::InvalidArgument("open as secondary: secondary_path is empty");
  for (const std::string& directory : {context.name(), context.WalDirectory()}) {
    if (path == directory) {
      return Status::InvalidArgument(
          path, "open as secondary: secondary_path is a directory of the primary's");
    }
  }
  return Status::OK();
}

// Checks that the follower's directory has none of the leader's tables, which it would mistake for
// links.
Status CheckHoldsNoTables(const DbContext& context, const OpenRequest& request,
                          const std::string& path) {
  FileSystem* const fs = context.fs().get();
  std::vector<std::string> directories = {context.name(), context.WalDirectory()};
  for (const ColumnFamilyDescriptor& family : request.families) {
    for (const DbPath& of_tables : TablePathsOf(context.options(), family.options)) {
      directories.push_back(of_tables.path);
    }
  }
  for (const std::string& directory : directories) {
    if (!IsSamePath(path, directory) && !IsSameFile(fs, path, directory)) continue;
    return Status::InvalidArgument(path,
                                   "open as follower: the follower's directory is the leader's");
  }
  return Status::OK();
}

// Makes the LOG in the secondary's own directory, unless the options have a logger.
Status MakeLog(const OpenRequest& request, const std::string& path, DbContext* context) {
  std::shared_ptr<Logger> info_log = context->options().info_log;
  if (info_log == nullptr) {
    VARVE_RETURN_IF_ERROR(MakeDirectoryDurably(context->fs().get(), path));
    // db_log_dir is ignored, since a program may pass the primary's options.
    DBOptions options = request.options;
    options.db_log_dir.clear();
    VARVE_RETURN_IF_ERROR(CreateInfoLog(options, path, &info_log));
  }
  context->set_info_log(std::move(info_log));
  return Status::OK();
}

// A promotion makes the version set write, so it gets all that a writer's has.
void MakeVersionSet(Engine* engine) {
  const DbContext& context = engine->context;
  VersionSetOptions options;
  options.db_name = context.name();
  options.fs = context.fs();
  options.file_options = context.file_options();
  options.max_manifest_file_size = context.options().max_manifest_file_size;
  options.use_fsync = context.options().use_fsync;
  options.write_dbid = context.options().write_dbid_to_manifest;
  options.info_log = context.info_log();
  options.clock = context.clock();
  options.statistics = context.statistics();
  options.log_holder = &engine->state.prepared;
  // The marks write nothing before Begin. They get the file system of the Env, as that of the
  // context calls listeners, for which a write of a mark must not wait.
  engine->state.marks = std::make_unique<wal::SyncedMarks>(context.options().env->GetFileSystem(),
                                                           context.name(), context.clock());
  options.marks = engine->state.marks.get();
  engine->state.versions = std::make_unique<VersionSet>(options, &engine->state.mu);
}

// Runs the steps in the drawing at the head of this file. After an error at most the LOG and the
// secondary's directory are left.
Status OpenIn(const OpenRequest& request, const std::string& path, Engine* engine,
              std::unique_ptr<Secondary>* secondary) {
  DbContext& context = engine->context;
  VARVE_RETURN_IF_ERROR(CheckPlaces(context, path));
  for (const ColumnFamilyDescriptor& family : request.families) {
    VARVE_RETURN_IF_ERROR(PrepareTableFactory(family.options));
  }
  VARVE_RETURN_IF_ERROR(CheckFamilies(context.options(), request.families));
  bool found = false;
  VARVE_RETURN_IF_ERROR(FindDatabase(context, /*manifest_chosen=*/false, &found));
  VARVE_ASSERT(found);
  std::shared_ptr<LinkedTables> tables;
  if (!request.follower_directory.empty()) {
    VARVE_RETURN_IF_ERROR(CheckHoldsNoTables(context, request, path));
    VARVE_RETURN_IF_ERROR(LinkedTables::Open(context.fs(), path, &tables));
    context.set_table_fs(tables);
  }
  VARVE_RETURN_IF_ERROR(MakeLog(request, path, &context));
  if (tables != nullptr) tables->set_info_log(context.shared_info_log());
  MakeVersionSet(engine);
  if (const int most = context.options().max_open_files; most > 0) {
    context.set_limited_tables(TableCache::NewLimitedCache(static_cast<int>(TablesFor(most))));
  }
  DbState& state = engine->state;
  state.logs = std::make_unique<LogSet>(context.options().use_fsync, state.marks.get());
  MakeWritePath(engine);
  // Secondary::Open creates the families after reading the MANIFEST.
  *secondary = std::make_unique<Secondary>(engine, request.families, std::move(tables));
  return (*secondary)->Open();
}

}  // namespace

Status OpenSecondaryEngine(const OpenRequest& request, const std::string& path,
                           std::shared_ptr<Engine>* engine, std::unique_ptr<Secondary>* secondary) {
  VARVE_ASSERT(request.read_only && request.follows);
  std::shared_ptr<Engine> made;
  const Status s = Guarded([&] {
    made = MakeEngine(request);
    return OpenIn(request, AbsolutePath(made->context.fs().get(), path), made.get(), secondary);
  });
  if (s.ok()) {
    LogInfo(made->context.info_log(), "%s of %s",
            request.follower_directory.empty() ? "secondary" : "follower",
            made->context.name().c_str());
    *engine = std::move(made);
    return s;
  }
  if (made == nullptr) return s;
  LogError(made->context.info_log(), "open as secondary failed: %s", s.ToString().c_str());
  // The secondary refers to metadata of families and files, so it is destroyed before the engine.
  secondary->reset();
  ReleaseFamilies(made.get());
  return s;
}

}  // namespace varve
