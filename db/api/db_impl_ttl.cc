// SPDX-License-Identifier: Apache-2.0

// Implements TtlHost: the time by which DBWithTTL judges lifetimes is read from the MANIFEST, and
// saved in it.

#include "db/api/db_impl.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

uint64_t DbImpl::SavedTtlClock() const {
  DbLock lock(&engine_->state.mu);
  return engine_->state.versions->ttl_clock();
}

Status DbImpl::SaveTtlClock(uint64_t seconds) try {
  Engine& e = *engine_;
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckWritable(call));
  DbLock lock(&e.state.mu);
  VersionEdit edit;
  // The clock belongs to the database and not to a family, but every edit names one: the default
  // family, which always exists.
  edit.ttl_clock = seconds;
  const std::shared_ptr<FamilyVersions> family = e.state.versions->FindFamily(0);
  Status s =
      e.state.versions->LogAndApply({FamilyEdit{family.get(), {&edit}}}, e.context.directory());
  return s.ok() ? s : e.errors.Reported(s, BackgroundErrorReason::kManifestWrite);
} catch (...) {
  return CaughtException();
}

}  // namespace varve
