// SPDX-License-Identifier: Apache-2.0
#include "tests/model/moved_database.h"

#include <gtest/gtest.h>

#include <vector>

namespace varve::testing {

void ExpectHolds(DB* db, const Handles& handles, const ReferenceState& state) {
  for (const auto& [name, handle] : handles) {
    const auto expected = state.families.find(name);
    if (expected == state.families.end()) continue;
    SCOPED_TRACE("column family " + name);
    std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions(), handle));
    it->SeekToFirst();
    for (const auto& [key, value] : expected->second) {
      ASSERT_TRUE(it->Valid()) << "missing " << Slice(key).ToString(true) << " "
                               << it->status().ToString();
      ASSERT_EQ(Slice(key).ToString(true), it->key().ToString(true));
      ASSERT_EQ(value, it->value().ToString()) << "key " << Slice(key).ToString(true);
      it->Next();
    }
    ASSERT_FALSE(it->Valid()) << "extra " << it->key().ToString(true);
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
  }
}

Status MovedDatabase::Open(const std::string& path, As as, const OptionSet& set,
                           const ReferenceState& state) {
  Close();
  DBOptions options = set.db;
  options.create_if_missing = false;
  options.create_missing_column_families = false;
  options.db_paths.clear();
  std::vector<ColumnFamilyDescriptor> families;
  for (const auto& [name, contents] : state.families) families.emplace_back(name, set.family);
  std::vector<ColumnFamilyHandle*> handles;
  Status s;
  if (as == As::kSecondary) {
    // Tables that the primary deletes stay open.
    options.max_open_files = -1;
    options.db_paths = set.db.db_paths;
    s = DB::OpenAsSecondary(options, path, path + "-secondary", families, &handles, &db_);
  } else if (as == As::kReadOnly) {
    s = DB::OpenForReadOnly(options, path, families, &handles, &db_);
  } else {
    s = DB::Open(options, path, families, &handles, &db_);
  }
  for (size_t i = 0; s.ok() && i < families.size(); i++) handles_[families[i].name] = handles[i];
  return s;
}

void MovedDatabase::Close() {
  if (db_ == nullptr) return;
  for (const auto& [name, handle] : handles_) {
    EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  }
  handles_.clear();
  EXPECT_TRUE(db_->Close().ok());
  db_.reset();
}

}  // namespace varve::testing
