// SPDX-License-Identifier: Apache-2.0
#include "tools/varve/manifest_state.h"

#include "varve/env.h"

#include "db/version/manifest_replay.h"
#include "tools/varve/database.h"
#include "util/env/io_error.h"

namespace varve::tool {

namespace {

constexpr int kReadingsMax = 50;
constexpr int kPauseMicros = 10 * 1000;

Status ReadOnce(const std::string& path, ManifestSurvey* survey) {
  FileSystem* const fs = FileSystem::Default().get();
  uint64_t number = 0;
  Status s = ReadCurrent(fs, path, &number);
  return s.ok() ? SurveyManifest(fs, path, number, survey) : s;
}

}  // namespace

// A writer appends to the MANIFEST, replaces it, and notes in another file how far it is durable,
// so one reading may see an older part of one file than of the other.
Status ReadManifestState(const std::string& path, ManifestSurvey* survey) {
  Status s = CheckIsDatabase(path);
  if (!s.ok()) return s;
  ManifestSurvey before;
  Status before_status;
  for (int reading = 0; reading < kReadingsMax; reading++) {
    if (reading > 0) Env::Default()->SleepForMicroseconds(kPauseMicros);
    s = ReadOnce(path, survey);
    // A reading without damage is right whatever a writer did meanwhile: it is a state that was in
    // force.
    if (s.ok() && survey->whole) return s;
    if (!s.ok() && !s.IsCorruption() && !IsMissing(s)) return s;
    // Damage that a writer causes is gone, or is elsewhere, at the next reading; what stays is
    // real. The limit of readings, half a second in all, ends the search beside a writer that never
    // rests.
    const bool same = s.ok() == before_status.ok() && survey->number == before.number &&
                      survey->end == before.end && survey->damage == before.damage;
    if (reading > 0 && same) return s;
    before = *survey;
    before_status = s;
  }
  return s;
}

}  // namespace varve::tool
