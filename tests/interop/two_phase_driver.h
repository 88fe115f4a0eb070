// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns a program that obeys a script of transactions in two phases, as driver.h does of plain
// changes. The file that includes this one names the engine before: `namespace kv = varve;`.
//
// A script has one command a line; F is a column family, "default" or "other":
//   open DIR [prepared|stamped]    under WRITE_PREPARED; "other" has timestamps
//   refused DIR TEXT               opening it without two phases fails, and says TEXT
//   begin NAME                     what follows is that transaction's
//   put F K V | merge F K V | del F K | sdel F K
//   prepare                        and the transaction is left
//   write                          what was begun, in one phase
//   plain F K V                    without a transaction
//   commit NAME [TS]               of one that is prepared
//   rollback NAME
//   prepared NAMES                 those that are, "a,b", or "-"
//   scan F KEYS                    all there is, "k=v,l=w", with timestamps "k@7=v", or "-"
//   flush | close | quit           quit: the process ends without closing
// The first thing that goes wrong is printed, and ends the process with 1.

#include <unistd.h>

#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/interop/script_file.h"

namespace interop {

class TwoPhaseDriver {
 public:
  // Returns 0 if every command succeeded.
  int Run(std::istream& script) {
    std::string line;
    for (size_t number = 1; problem_.empty() && std::getline(script, line); number++) {
      std::istringstream stream(line);
      std::vector<std::string> words;
      for (std::string word; stream >> word;) words.push_back(word);
      if (words.empty()) continue;
      words.resize(4);
      Step(words);
      if (!problem_.empty()) problem_ = "line " + std::to_string(number) + ": " + problem_;
    }
    if (!problem_.empty()) {
      std::cout << "PROBLEM " << problem_ << std::endl;
      _exit(1);  // destructors might meet the same damage
    }
    std::cout << "OK" << std::endl;
    return 0;
  }

 private:
  void Step(const std::vector<std::string>& w) {
    if (w[0] == "open") return Open(w[1], w[2]);
    if (w[0] == "refused") return OpenPlain(w[1], w[2]);
    if (w[0] == "close") return Close();
    if (w[0] == "quit") {
      std::cout << "OK" << std::endl;
      _exit(0);
    }
    if (w[0] == "flush") {
      for (kv::ColumnFamilyHandle* family : families_) {
        Note(db_->Flush(kv::FlushOptions(), family), w[0]);
      }
      return;
    }
    if (w[0] == "plain") return Note(db_->Put({}, Family(w[1]), w[2], w[3]), w[0]);
    if (w[0] == "prepared" || w[0] == "scan") return Compare(w);
    if (w[0] == "commit" || w[0] == "rollback") return Decide(w[0], w[1], w[2]);
    return Change(w);
  }

  void Change(const std::vector<std::string>& w) {
    if (w[0] == "begin") {
      txn_.reset(db_->BeginTransaction(kv::WriteOptions()));
      Note(txn_->SetName(w[1]), w[0]);
    } else if (w[0] == "put") {
      Note(txn_->Put(Family(w[1]), w[2], w[3]), w[0]);
    } else if (w[0] == "merge") {
      Note(txn_->Merge(Family(w[1]), w[2], w[3]), w[0]);
    } else if (w[0] == "del") {
      Note(txn_->Delete(Family(w[1]), w[2]), w[0]);
    } else if (w[0] == "sdel") {
      Note(txn_->SingleDelete(Family(w[1]), w[2]), w[0]);
    } else if (w[0] == "write") {
      Note(txn_->Commit(), w[0]);
      txn_.reset();
    } else if (w[0] == "prepare") {
      Note(txn_->Prepare(), w[0]);
      left_.push_back(std::move(txn_));
    } else {
      problem_ = "unknown: " + w[0];
    }
  }

  void Open(const std::string& directory, const std::string& how) {
    kv::DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    kv::ColumnFamilyOptions of_family;
    Note(kv::GetColumnFamilyOptionsFromString(
             kv::ConfigOptions(), of_family, "merge_operator={id=StringAppendOperator;delimiter=:}",
             &of_family),
         "options");
    if (!problem_.empty()) return;
    kv::TransactionDB* db = nullptr;
    kv::TransactionDBOptions of_transactions;
    if (how == "prepared") of_transactions.write_policy = kv::WRITE_PREPARED;
    kv::ColumnFamilyOptions of_other = of_family;
    stamped_ = how == "stamped";
    const std::string with_timestamps = "comparator=leveldb.BytewiseComparator.u64ts";
    if (stamped_) {
      Note(kv::GetColumnFamilyOptionsFromString(kv::ConfigOptions(), of_family, with_timestamps,
                                                &of_other),
           "options");
    }
    Note(kv::TransactionDB::Open(options, of_transactions, directory,
                                 {{"default", of_family}, {"other", of_other}}, &families_, &db),
         "open");
    db_.reset(db);
  }

  void OpenPlain(const std::string& directory, const std::string& text) {
    std::vector<kv::ColumnFamilyHandle*> families;
    kv::DB* db = nullptr;
    const kv::Status s =
        kv::DB::Open(kv::DBOptions(), directory, {{"default", {}}, {"other", {}}}, &families, &db);
    for (kv::ColumnFamilyHandle* family : families) delete family;
    delete db;
    if (s.ok() || s.ToString().find(text) == std::string::npos) {
      problem_ = "opened without two phases: " + s.ToString();
    }
  }

  void Close() {
    left_.clear();
    for (kv::ColumnFamilyHandle* family : families_) delete family;
    families_.clear();
    db_.reset();
  }

  void Decide(const std::string& what, const std::string& name, const std::string& timestamp) {
    kv::Transaction* const txn = db_->GetTransactionByName(name);
    if (txn == nullptr) {
      problem_ = name + " is not there";
      return;
    }
    if (!timestamp.empty()) Note(txn->SetCommitTimestamp(std::stoull(timestamp)), "timestamp");
    Note(what == "commit" ? txn->Commit() : txn->Rollback(), what + " " + name);
  }

  void Compare(const std::vector<std::string>& w) {
    std::string text;
    if (w[0] == "scan") {
      text = Scan(w[1]);
    } else {
      std::vector<kv::Transaction*> all;
      db_->GetAllPreparedTransactions(&all);
      std::set<std::string> names;
      for (kv::Transaction* txn : all) names.insert(txn->GetName());
      for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    }
    if (text.empty()) text = "-";
    const std::string& wanted = w[0] == "scan" ? w[2] : w[1];
    if (problem_.empty() && text != wanted) problem_ = w[0] + ": " + text + ", not " + wanted;
  }

  std::string Scan(const std::string& family) {
    const bool stamped = stamped_ && family == "other";
    const std::string newest(8, '\xff');
    const kv::Slice as_of(newest);
    kv::ReadOptions read;
    if (stamped) read.timestamp = &as_of;
    std::string text;
    const std::unique_ptr<kv::Iterator> it(db_->NewIterator(read, Family(family)));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      text += (text.empty() ? "" : ",") + it->key().ToString();
      // Timestamps are small, so the lowest byte of eight is enough.
      if (stamped) text += "@" + std::to_string(int{it->timestamp().ToString().at(0)});
      text += "=" + it->value().ToString();
    }
    Note(it->status(), "scan");
    return text;
  }

  kv::ColumnFamilyHandle* Family(const std::string& name) {
    return families_[name == "other" ? 1 : 0];
  }
  void Note(const kv::Status& s, const std::string& what) {
    if (problem_.empty() && !s.ok()) problem_ = what + ": " + s.ToString();
  }

  std::unique_ptr<kv::TransactionDB> db_;
  std::vector<kv::ColumnFamilyHandle*> families_;
  std::unique_ptr<kv::Transaction> txn_;
  std::vector<std::unique_ptr<kv::Transaction>> left_;
  bool stamped_ = false;
  std::string problem_;
};

inline int RunTwoPhaseDriver(int argc, char** argv) {
  return RunScriptFile<TwoPhaseDriver>(argc, argv);
}

}  // namespace interop
