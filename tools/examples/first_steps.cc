// SPDX-License-Identifier: Apache-2.0
// The tour of the README: open a database, write, read, scan, and look at a moment of the past.
// Usage: first_steps [directory]    (a new one; default ./first_steps.db)

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "varve/db.h"
#include "varve/iterator.h"
#include "varve/options.h"
#include "varve/write_batch.h"

namespace {

// Every call that can fail returns a Status; this program gives up at the first bad one.
void OrDie(const varve::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  varve::Options options;
  options.create_if_missing = true;
  std::unique_ptr<varve::DB> db;
  OrDie(varve::DB::Open(options, argc > 1 ? argv[1] : "first_steps.db", &db));

  OrDie(db->Put(varve::WriteOptions(), "apple", "green"));

  // A batch happens as a whole or not at all, also across a crash.
  varve::WriteBatch batch;
  OrDie(batch.Put("banana", "yellow"));
  OrDie(batch.Put("cherry", "red"));
  OrDie(batch.Delete("apple"));

  // A snapshot keeps a moment readable: here, the one before the batch.
  const varve::Snapshot* before = db->GetSnapshot();
  OrDie(db->Write(varve::WriteOptions(), &batch));

  std::string value;
  varve::ReadOptions read;
  if (!db->Get(read, "apple", &value).IsNotFound()) return 2;
  read.snapshot = before;
  OrDie(db->Get(read, "apple", &value));
  std::printf("apple was %s\n", value.c_str());
  db->ReleaseSnapshot(before);

  // An iterator walks in key order over the moment it was made.
  const std::unique_ptr<varve::Iterator> it(db->NewIterator(varve::ReadOptions()));
  int entries = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++entries) {
    std::printf("%s is %s\n", it->key().ToString().c_str(), it->value().ToString().c_str());
  }
  OrDie(it->status());
  return entries == 2 ? 0 : 3;
}
