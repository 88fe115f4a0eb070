// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plays histories (harness/history_text.h) on one library over its C API. One database is open at
// a time, as kind says: plain, ro, txn, opt (optimistic transactions).
//
//   open txn defaults ; write_buffer_size=65536 ; prefix_extractor=fixed:2
//   close | crash | crash swap      swap: the libraries' directories change places (case_runner.h)
//   family f1 | drop f1             a dropped family stays, as "f1!"; rev...: reverse order,
//                                   bare...: no merge operator
//   put f1 k v | del f1 k | sdel f1 k | merge f1 k v | range f1 a b
//   write sync put f1 k v ; range f1 a b ; log x ; save ; back ; pop     or plain, nowal, missing
//   get f1 k snap=s | pinned | may | multi f1 a b c | batched f1 a b c | scan f1 back lower=a
//   iter i f1 upper=c | seek i k | seekback i k | first i | last i | next i | prev i | refresh i
//   snap s | unsnap s | flush f1 | compact f1 from=a | deletefiles f1 a b | setopt f1 name=value
//   prop f1 name | sequence | syncwal | families
//   index w overwrite | iwrite w put f1 k v ; save | iget w f1 k | iboth w f1 k | iscan w f1 |
//   icommit w | enditer i, and endindex w
//   begin t snap max=N              an old t is used again
//   tx t put f1 k v ; get f1 k ; lock f1 k ; share f1 k ; own f1 k ; log x ; save ; back
//   tmulti t f1 a b | tscan t f1 back | tbatch t | trebuild t put f1 k v | tname t n |
//   prepare t | commit t | rollback t | endtx t | prepared     prepared ones are then "=name"
//
// An answer is what the call returned; of errors their class, which stands before the first colon.

#include <map>
#include <string>
#include <vector>

#include "tests/differential/c_api.h"
#include "tests/harness/history_text.h"

namespace varve::testing {

class CReadOptions;

// Answer of a meaningless line, one that names something that does not exist.
extern const char* const kNoAnswer;

class CPlayer {
 public:
  CPlayer(const CApi* api, std::string directory);
  ~CPlayer();
  CPlayer(const CPlayer&) = delete;
  CPlayer& operator=(const CPlayer&) = delete;

  std::string Do(const Line& line);

 private:
  using Handle = rocksdb_column_family_handle_t*;
  using Method = std::string (CPlayer::*)(const Line&);
  struct Part {
    std::string verb;
    Handle family = nullptr;
    std::string key;
    std::string value;
  };
  struct Iterator {
    rocksdb_iterator_t* it = nullptr;
    CReadOptions* options = nullptr;
  };
  static const std::map<std::string, Method>& Methods();

  // ---- c_player.cc: the database and what lives as long as it ----
  std::string Open(const Line& line);
  std::string OpenKind(const std::string& kind, std::vector<std::string> names);
  std::string Close(const Line& line);
  std::string MakeFamily(const Line& line);
  std::string DropFamily(const Line& line);
  std::string ListFamilies(const Line& line);
  std::string Snap(const Line& line);
  std::string Unsnap(const Line& line);
  std::string Flush(const Line& line);
  std::string Compact(const Line& line);
  std::string DeleteFiles(const Line& line);
  std::string SetOption(const Line& line);
  std::string Property(const Line& line);
  std::string Sequence(const Line& line);
  std::string SyncWal(const Line& line);
  std::vector<std::string> FamiliesOnDisk();
  rocksdb_options_t* OptionsOf(const std::string& family) const;
  Handle Find(const std::string& family) const;

  // ---- c_player_writes.cc ----
  std::string Single(const Line& line);
  std::string Write(const Line& line);
  std::string MakeIndex(const Line& line);
  std::string WriteIndex(const Line& line);
  std::string GetIndexed(const Line& line);
  std::string ScanIndexed(const Line& line);
  std::string CommitIndex(const Line& line);
  std::string EndIndex(const Line& line);
  std::vector<Part> PartsIn(const Line& line) const;
  std::string Fill(const std::vector<Part>& parts, rocksdb_writebatch_t* batch) const;
  std::string Commit(rocksdb_writebatch_t* batch, const std::string& how) const;
  std::string FillIndex(const Part& part, rocksdb_writebatch_wi_t* index) const;
  rocksdb_writeoptions_t* WriteOptions(const std::string& how) const;

  // ---- c_player_reads.cc ----
  std::string Get(const Line& line);
  std::string May(const Line& line);
  std::string Multi(const Line& line);
  std::string Scan(const Line& line);
  std::string NewIterator(const Line& line);
  std::string Move(const Line& line);
  std::string EndIterator(const Line& line);
  std::string ScanWith(rocksdb_iterator_t* it, const Line& line) const;
  std::string Standing(rocksdb_iterator_t* it) const;

  // ---- c_player_transactions.cc ----
  std::string Begin(const Line& line);
  std::string Transact(const Line& line);
  std::string TransactPart(rocksdb_transaction_t* transaction, const Part& part);
  std::string ReadPart(rocksdb_transaction_t* transaction, const Part& part);
  std::string MultiInTransaction(const Line& line);
  std::string ScanInTransaction(const Line& line);
  std::string BatchOfTransaction(const Line& line);
  std::string Rebuild(const Line& line);
  std::string Name(const Line& line);
  std::string Decide(const Line& line);
  std::string EndTransaction(const Line& line);
  std::string Prepared(const Line& line);

  // ---- Answers ----
  // Returns "ok", or the class of the error, which is freed.
  std::string Told(char* error) const;
  template <typename Call, typename... Args>
  std::string Checked(const Call& call, Args... args) const {
    char* error = nullptr;
    call(args..., &error);
    return Told(error);
  }
  // Returns the result of a read, which is freed: its value, "none", or the class of the error.
  std::string Found(char* value, size_t size, char* error) const;
  template <typename Call, typename... Args>
  std::string Asked(const Call& call, Args... args) const {
    size_t size = 0;
    char* error = nullptr;
    char* const value = call(args..., &size, &error);
    return Found(value, size, error);
  }

  const CApi& api_;
  const std::string directory_;
  rocksdb_comparator_t* const reverse_;

  rocksdb_options_t* options_ = nullptr;
  rocksdb_t* db_ = nullptr;
  rocksdb_transactiondb_t* txn_db_ = nullptr;
  rocksdb_optimistictransactiondb_t* opt_db_ = nullptr;
  std::map<std::string, Handle> families_;
  std::map<std::string, const rocksdb_snapshot_t*> snapshots_;
  // Iterators continue to use released snapshots.
  std::vector<const rocksdb_snapshot_t*> released_;
  std::map<std::string, Iterator> iterators_;
  std::map<std::string, rocksdb_writebatch_wi_t*> indexes_;
  std::map<std::string, rocksdb_transaction_t*> transactions_;
};

// Returns the bytes as a short word: a number replaces the middle of long ones.
std::string ShortWord(const std::string& bytes);

}  // namespace varve::testing
