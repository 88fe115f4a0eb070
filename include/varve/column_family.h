// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the handle of a column family, and the descriptor (name and options) with which it is
// opened. An opening must list every column family of the database, in any order, unless it is
// read-only.
//
//   std::vector<varve::ColumnFamilyDescriptor> families = {{"default", options},
//                                                          {"users", options}};
//   std::vector<varve::ColumnFamilyHandle*> handles;  // one for each descriptor, in its order
//   std::unique_ptr<varve::DB> db;
//   varve::Status s = varve::DB::Open(options, "my.db", families, &handles, &db);

#include <cstdint>
#include <string>

#include "varve/export.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

class Comparator;

// Name of the column family that every database has, and that calls without a handle use.
inline const std::string kDefaultColumnFamilyName("default");

// A column family's name and options, which the descriptor owns.
struct ColumnFamilyDescriptor {
  // Describes the default column family with default options.
  ColumnFamilyDescriptor() : name(kDefaultColumnFamilyName) {}
  ColumnFamilyDescriptor(const std::string& cf_name, const ColumnFamilyOptions& cf_options)
      : name(cf_name), options(cf_options) {}

  // Name of the column family, and the options with which it is opened or created.
  std::string name;
  ColumnFamilyOptions options;
};

// Identifies an open column family in calls. The caller owns it, and deletes it (or calls
// DestroyColumnFamilyHandle), for RocksDB's sake before the DB, although a handle of Varve may
// outlive that (DB::Close). A call with a handle or a snapshot of another database returns
// InvalidArgument and changes nothing; if it returns no Status, its result is empty. Thread-safe.
class VARVE_EXPORT ColumnFamilyHandle {
 public:
  virtual ~ColumnFamilyHandle() = default;

  // Return the name and the id. No other column family of the database ever has the same id. The
  // reference to the name stays valid as long as the handle.
  virtual const std::string& GetName() const = 0;
  virtual uint32_t GetID() const = 0;

  // Sets *desc to the name and the current options, including changes by DB::SetOptions.
  virtual Status GetDescriptor(ColumnFamilyDescriptor* desc) = 0;

  // Returns the comparator of the column family's options. It is not owned by the database, and
  // must outlive it.
  virtual const Comparator* GetComparator() const = 0;
};

}  // namespace varve
