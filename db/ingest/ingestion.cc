// SPDX-License-Identifier: Apache-2.0
#include "db/ingest/ingestion.h"

#include "util/base/caught_exception.h"

namespace varve {

// The staging directory stays until the database is closed, as other calls may use it.
void Ingestion::Discard() noexcept {
  std::vector<FamilyShare> shares = std::move(shares_);
  shares_.clear();
  for (FamilyShare& share : shares) {
    for (StagedTable& table : share.tables) {
      BestEffort([&] {
        table.reader.reset();
        if (table.path.empty()) return;
        fs_->DeleteFile(table.path, IOOptions(), nullptr).PermitUncheckedError();
      });
    }
  }
}

}  // namespace varve
