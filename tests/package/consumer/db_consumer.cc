// SPDX-License-Identifier: Apache-2.0
// Uses the engine as a foreign program would: argv[1] is a directory that does not exist yet.

#include <varve/db.h>

#include <memory>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  varve::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  std::unique_ptr<varve::DB> db;
  if (!varve::DB::Open(options, argv[1], &db).ok()) return 3;
  if (!db->Put(varve::WriteOptions(), "key", "value").ok()) return 4;
  std::string value;
  if (!db->Get(varve::ReadOptions(), "key", &value).ok()) return 5;
  return value == "value" ? 0 : 6;
}
