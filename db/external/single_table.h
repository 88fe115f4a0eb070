// SPDX-License-Identifier: Apache-2.0
#pragma once

// SingleTable makes one table file look like a column family with an empty memtable and this table,
// so that the code that reads column families can read it.

#include <memory>
#include <string>

#include "varve/options.h"

#include "db/column_family/super_version_source.h"
#include "table/table_reader.h"
#include "util/key/internal_key.h"

namespace varve {

// Thread-safe. Ownership: shared by the reader and its iterators; borrows the options' pointers.
class SingleTable final : public SuperVersionSource {
 public:
  // Opens a table file, and sets *table unless that fails. Errors name the path.
  static Status Open(const Options& options, const std::string& path,
                     std::shared_ptr<SingleTable>* table);
  ~SingleTable() override;
  SingleTable(const SingleTable&) = delete;
  SingleTable& operator=(const SingleTable&) = delete;

  SuperVersion* AcquireSuperVersion() override;
  // Returns the largest number, so that all entries are visible.
  SequenceNumber VisibleSequence() override { return kMaxSequenceNumber; }
  uint64_t SuperVersionNumber() const override { return super_version_->number(); }

  // Returns the super-version that has only this table.
  [[nodiscard]] const SuperVersion& super_version() const { return *super_version_; }
  [[nodiscard]] const TableReader& reader() const { return *reader_; }
  [[nodiscard]] const InternalKeyComparator& icmp() const { return icmp_; }
  [[nodiscard]] SystemClock* clock() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  SingleTable(const Options& options, const std::string& path);
  // Opens the reader, and makes the super-version.
  Status OpenFile();

  const std::string path_;
  const std::shared_ptr<const Options> options_;
  const InternalKeyComparator icmp_;
  SuperVersion* super_version_ = nullptr;  // Holds one reference.
  const TableReader* reader_ = nullptr;    // Owned by the super-version.
  std::unique_ptr<TableReader> empty_;     // Set instead for a table without entries.
};

}  // namespace varve
