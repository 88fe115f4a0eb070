// SPDX-License-Identifier: Apache-2.0
// Moves money from one account to another, in a transaction: both change or neither, and no other
// write comes in between. Usage: transfer [directory] (a new one; default ./transfer.db)

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "varve/options.h"
#include "varve/utilities/transaction_db.h"

namespace {

void OrDie(const varve::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

varve::Status Transfer(varve::TransactionDB* db, const char* from, const char* to, int amount) {
  const std::unique_ptr<varve::Transaction> txn(db->BeginTransaction(varve::WriteOptions()));
  for (const auto& [account, change] : {std::pair{from, -amount}, std::pair{to, amount}}) {
    std::string balance;
    // Locks the account. Returns TimedOut if another transaction holds it for too long.
    varve::Status s = txn->GetForUpdate(varve::ReadOptions(), account, &balance);
    if (s.ok()) s = txn->Put(account, std::to_string(std::stoi(balance) + change));
    if (!s.ok()) return s;  // the transaction goes, and what it did with it
  }
  return txn->Commit();
}

}  // namespace

int main(int argc, char** argv) {
  varve::Options options;
  options.create_if_missing = true;
  varve::TransactionDB* opened = nullptr;
  OrDie(varve::TransactionDB::Open(options, varve::TransactionDBOptions(),
                                   argc > 1 ? argv[1] : "transfer.db", &opened));
  const std::unique_ptr<varve::TransactionDB> db(opened);
  OrDie(db->Put(varve::WriteOptions(), "alice", "100"));
  OrDie(db->Put(varve::WriteOptions(), "bob", "20"));

  OrDie(Transfer(db.get(), "alice", "bob", 30));
  if (!Transfer(db.get(), "alice", "nobody", 30).IsNotFound()) return 2;

  std::string alice;
  std::string bob;
  OrDie(db->Get(varve::ReadOptions(), "alice", &alice));
  OrDie(db->Get(varve::ReadOptions(), "bob", &bob));
  std::printf("alice has %s, bob has %s\n", alice.c_str(), bob.c_str());
  return alice == "70" && bob == "50" ? 0 : 3;
}
