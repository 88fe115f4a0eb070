// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens one table file by itself, whatever order its keys are in.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/comparator.h"
#include "varve/options.h"

#include "table/table_reader.h"
#include "util/key/internal_key.h"

namespace varve::tool {

// Stands for a comparator that this program does not have, where only its name matters.
class AbsentComparator : public Comparator {
 public:
  explicit AbsentComparator(std::string name) : name_(std::move(name)) {}

  const char* Name() const override { return name_.c_str(); }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

 private:
  const std::string name_;
};

// Owns an open table. Reads bypass all caches.
class TableFile {
 public:
  // Finds the order by the comparator's name in the table. `largest_seq` is that of the MANIFEST,
  // which all entries of an ingested table have, or kMaxSequenceNumber if it is not known: entries
  // then have the numbers in the file.
  static Status Open(const std::string& path, SequenceNumber largest_seq,
                     std::unique_ptr<TableFile>* file);

  const TableReader& reader() const { return *reader_; }
  uint64_t bytes() const { return bytes_; }
  const InternalKeyComparator& icmp() const { return *icmp_; }
  // False: the comparator is not known here, and entries are only read in the order of the file.
  bool order_known() const { return absent_ == nullptr; }

 private:
  TableFile() = default;
  Status OpenWith(const std::string& path, SequenceNumber largest_seq,
                  const Comparator* comparator);

  std::unique_ptr<AbsentComparator> absent_;
  std::unique_ptr<InternalKeyComparator> icmp_;
  ColumnFamilyOptions options_;
  uint64_t bytes_ = 0;
  std::unique_ptr<TableReader> reader_;
};

// Returns a name such as "put" for the kind of an entry.
const char* EntryName(ValueType type);

}  // namespace varve::tool
