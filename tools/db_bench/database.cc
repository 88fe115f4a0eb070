// SPDX-License-Identifier: Apache-2.0
#include "tools/db_bench/database.h"

#include <array>
#include <cstdio>

#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/stats.h"

namespace varve::bench {

namespace {

std::string FamilyName(int index) {
  if (index == 0) return "default";
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "column_family_name_%06d", index);
  return name.data();
}

}  // namespace

Database::Database(std::string path, const Options& options)
    : path_(std::move(path)), options_(options) {}

Database::~Database() {
  Close();
}

void Database::Open() {
  const uint64_t start = NowMicros();
  if (FLAGS_num_column_families > 1) {
    OpenFamilies();
  } else {
    const Status s = FLAGS_readonly ? DB::OpenForReadOnly(options_, path_, &db_)
                                    : DB::Open(options_, path_, &db_);
    if (!s.ok()) Fail("open error", s);
    families_ = {db_->DefaultColumnFamily()};
  }
  if (FLAGS_report_open_timing) {
    std::printf("OpenDb:     %.3f milliseconds\n", static_cast<double>(NowMicros() - start) / 1e3);
  }
}

void Database::OpenFamilies() {
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (int i = 0; i < FLAGS_num_column_families; ++i) {
    descriptors.emplace_back(FamilyName(i), ColumnFamilyOptions(options_));
  }
  const Status s = FLAGS_readonly
                       ? DB::OpenForReadOnly(options_, path_, descriptors, &families_, &db_)
                       : DB::Open(options_, path_, descriptors, &families_, &db_);
  if (!s.ok()) Fail("open error", s);
}

void Database::Close() {
  if (db_ == nullptr) return;
  if (families_.size() > 1) {
    for (ColumnFamilyHandle* handle : families_) {
      const Status s = db_->DestroyColumnFamilyHandle(handle);
      if (!s.ok()) Fail("giving a column family back", s);
    }
  }
  families_.clear();
  const Status s = db_->Close();
  if (!s.ok()) Fail("close error", s);
  db_.reset();
}

void Database::Destroy() {
  const Status s = DestroyDB(path_, options_);
  if (!s.ok()) Fail("destroying " + path_, s);
}

}  // namespace varve::bench
