// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns a program that obeys a script of database operations, written once against the API that
// both engines have. The file that includes this one, after the engine's headers, names the engine
// before: `namespace kv = varve;`. It runs in a process of its own, so that an abort is an answer.
//
// A script has one command a line; keys and values are hex, "-" stands for nothing, and "*N:61" for
// N bytes of 0x61:
//   db OPTIONS | family NAME OPTIONS      before `open`; texts of options, "-" for the defaults
//   paths BYTES                           before `open`: tables beyond them go to DIR/slow
//   plain FORM                            before `open`: the families have PlainTables. FORM is
//                                         ENCODING,KEY_LENGTH,STORE_INDEX,HASH_RATIO,PREFIX_LENGTH;
//                                         scans go forward then, and with prefixes there are none
//   open DIR | reader DIR                 reader: read-only
//   put F K V | merge F K V | del F K | sdel F K | range F BEGIN END
//   entity F K V                          an entity: V is its default column, K its column "key"
//   batch | write                         changes in between are one batch
//   sync                                  the next write is synced
//   flush F | compact F | snapshot | release
//   compact-steps F N                     CompactRange that is cancelled after N compactions
//   levels F N                            so many levels must have tables
//   want F K V | absent F K | check       what must be there, in order of keys; compares
//   columns F K                           K, which is also wanted, must be an entity
//   checksums                             VerifyChecksum
//   close | quit                          quit: the process ends without closing
// The first thing that goes wrong is printed, and ends the process with 1.

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/interop/script_file.h"

namespace interop {

inline std::string FromHex(const std::string& text) {
  if (text == "-") return "";
  if (text[0] == '*') {
    const size_t colon = text.find(':');
    return std::string(std::stoull(text.substr(1, colon - 1)),
                       static_cast<char>(std::stoi(text.substr(colon + 1), nullptr, 16)));
  }
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Cancels a call after some compactions.
struct StepCounter : kv::EventListener {
  void OnCompactionCompleted(kv::DB* /*db*/, const kv::CompactionJobInfo& /*info*/) override {
    if (--left == 0) cancelled = true;
  }

  std::atomic<int> left{0};
  std::atomic<bool> cancelled{false};
};

class Driver {
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
    if (problem_.empty() && db_ != nullptr) Close();
    if (!problem_.empty()) {
      std::cout << "PROBLEM " << problem_ << std::endl;
      _exit(1);  // destructors might meet the same damage
    }
    std::cout << "OK compared=" << compared_ << std::endl;
    return 0;
  }

 private:
  struct Wanted {
    std::map<std::string, std::string> present;
    std::set<std::string> absent;
    std::set<std::string> entities;
  };

  void Step(const std::vector<std::string>& w) {
    const std::string& verb = w[0];
    if (verb == "db" || verb == "family") return Options(w);
    if (verb == "paths") {
      fast_bytes_ = w[1];
      return;
    }
    if (verb == "plain") return Plain(w[1]);
    if (verb == "open" || verb == "reader") return Open(w[1], verb == "reader");
    if (verb == "put" || verb == "merge" || verb == "del" || verb == "sdel" || verb == "range" ||
        verb == "entity") {
      return Change(w);
    }
    if (verb == "batch") {
      batch_ = std::make_unique<kv::WriteBatch>();
    } else if (verb == "write") {
      Note(db_->Write(NextWrite(), batch_.get()), "write");
      batch_.reset();
    } else if (verb == "sync") {
      sync_next_ = true;
    } else if (verb == "flush") {
      Note(db_->Flush(kv::FlushOptions(), Family(w[1])), "flush");
    } else if (verb == "compact") {
      kv::CompactRangeOptions options;
      options.bottommost_level_compaction = kv::BottommostLevelCompaction::kForce;
      Note(db_->CompactRange(options, Family(w[1]), nullptr, nullptr), "compact");
    } else if (verb == "compact-steps") {
      CompactSteps(w[1], std::stoi(w[2]));
    } else if (verb == "levels") {
      CountLevels(w[1], std::stoul(w[2]));
    } else if (verb == "snapshot") {
      snapshots_.push_back(db_->GetSnapshot());
    } else if (verb == "release") {
      for (const kv::Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
      snapshots_.clear();
    } else if (verb == "want") {
      wanted_[w[1]].present[FromHex(w[2])] = FromHex(w[3]);
    } else if (verb == "columns") {
      wanted_[w[1]].entities.insert(FromHex(w[2]));
    } else if (verb == "absent") {
      wanted_[w[1]].absent.insert(FromHex(w[2]));
    } else if (verb == "check") {
      for (const auto& [family, wanted] : wanted_) {
        if (problem_.empty()) Check(family, wanted);
      }
    } else if (verb == "checksums") {
      Note(db_->VerifyChecksum(kv::ReadOptions()), "checksums");
    } else if (verb == "close") {
      Close();
    } else if (verb == "quit") {
      // Kill tests cover the half-written table of a compaction; sst_dump must not meet one.
      Note(db_->PauseBackgroundWork(), "pause");
      std::cout << "OK compared=" << compared_ << std::endl;
      _exit(0);
    } else {
      problem_ = "unknown command " + verb;
    }
  }

  void CompactSteps(const std::string& family, int steps) {
    steps_->left = steps;
    steps_->cancelled = false;
    kv::CompactRangeOptions options;
    options.canceled = &steps_->cancelled;
    const kv::Status s = db_->CompactRange(options, Family(family), nullptr, nullptr);
    if (!s.IsIncomplete()) Note(s, "compact steps");
  }

  void CountLevels(const std::string& family, size_t wanted) {
    size_t used = 0;
    for (int level = 0; level < db_->NumberLevels(Family(family)); level++) {
      std::string files;
      db_->GetProperty(Family(family), "rocksdb.num-files-at-level" + std::to_string(level),
                       &files);
      used += files == "0" ? 0 : 1;
    }
    if (used != wanted) problem_ = std::to_string(used) + " levels have tables";
  }

  void Note(const kv::Status& s, const std::string& what) {
    if (!s.ok() && problem_.empty()) problem_ = what + ": " + s.ToString();
  }

  void Options(const std::vector<std::string>& w) {
    kv::ConfigOptions config;
    config.ignore_unsupported_options = false;
    if (w[0] == "db") {
      if (w[1] != "-") {
        Note(kv::GetDBOptionsFromString(config, db_options_, w[1], &db_options_), "options");
      }
      return;
    }
    kv::ColumnFamilyOptions family;
    if (w[2] != "-") {
      Note(kv::GetColumnFamilyOptionsFromString(config, kv::ColumnFamilyOptions(), w[2], &family),
           "options");
    }
    families_.emplace_back(w[1], family);
  }

  void Plain(const std::string& form) {
    std::istringstream in(form);
    char comma = 0;
    int encoding = 0;
    kv::PlainTableOptions table;
    table.user_key_len = 0;
    size_t prefix = 0;
    in >> encoding >> comma >> table.user_key_len >> comma >> table.store_index_in_file >> comma >>
        table.hash_table_ratio >> comma >> prefix;
    table.encoding_type = static_cast<kv::EncodingType>(encoding);
    plain_ = true;
    has_prefixes_ = prefix != 0;
    db_options_.allow_mmap_reads = true;
    for (kv::ColumnFamilyDescriptor& family : families_) {
      family.options.table_factory.reset(kv::NewPlainTableFactory(table));
      if (has_prefixes_) {
        family.options.prefix_extractor.reset(kv::NewFixedPrefixTransform(prefix));
      }
    }
  }

  void Open(const std::string& directory, bool read_only) {
    std::vector<kv::ColumnFamilyHandle*> opened;
    kv::DB* db = nullptr;
    db_options_.listeners = {steps_};
    if (!fast_bytes_.empty()) {
      db_options_.db_paths = {{directory, std::stoull(fast_bytes_)}, {directory + "/slow", 0}};
    }
    Note(read_only ? kv::DB::OpenForReadOnly(db_options_, directory, families_, &opened, &db)
                   : kv::DB::Open(db_options_, directory, families_, &opened, &db),
         "open");
    db_.reset(db);
    for (size_t i = 0; i < opened.size(); i++) handles_[families_[i].name] = opened[i];
  }

  void Close() {
    for (auto& [name, handle] : handles_) Note(db_->DestroyColumnFamilyHandle(handle), "handle");
    handles_.clear();
    Note(db_->Close(), "close");
    db_.reset();
  }

  kv::ColumnFamilyHandle* Family(const std::string& name) { return handles_.at(name); }

  kv::WriteOptions NextWrite() {
    kv::WriteOptions options;
    options.sync = sync_next_;
    sync_next_ = false;
    return options;
  }

  void Change(const std::vector<std::string>& w) {
    kv::WriteBatch single;
    kv::WriteBatch* const batch = batch_ != nullptr ? batch_.get() : &single;
    kv::ColumnFamilyHandle* const family = Family(w[1]);
    const std::string key = FromHex(w[2]);
    if (w[0] == "put") Note(batch->Put(family, key, FromHex(w[3])), "put");
    if (w[0] == "entity") {
      const std::string value = FromHex(w[3]);
      Note(batch->PutEntity(family, key, {{"key", key}, {"", value}}), "entity");
    }
    if (w[0] == "merge") Note(batch->Merge(family, key, FromHex(w[3])), "merge");
    if (w[0] == "del") Note(batch->Delete(family, key), "del");
    if (w[0] == "sdel") Note(batch->SingleDelete(family, key), "sdel");
    if (w[0] == "range") Note(batch->DeleteRange(family, key, FromHex(w[3])), "range");
    if (batch_ == nullptr) Note(db_->Write(NextWrite(), batch), w[0]);
  }

  void Wrong(const std::string& family, const std::string& what, const std::string& key) {
    if (problem_.empty()) {
      problem_ = "WRONG: family " + family + ": " + what + " at key " +
                 kv::Slice(key).ToString(/*hex=*/true);
    }
  }

  void Check(const std::string& family, const Wanted& wanted) {
    if (!has_prefixes_) Scan(family, wanted, /*forwards=*/true);
    if (!plain_) Scan(family, wanted, /*forwards=*/false);
    PointReads(family, wanted);
    // RocksDB 7.8 crashes in GetEntity of a key that has only merge operands.
    if (!wanted.entities.empty()) Entities(family, wanted);
    if (!plain_) Seeks(family, wanted);
    ManyReads(family, wanted);
    compared_ += wanted.present.size() + wanted.absent.size();
  }

  // RocksDB's PlainTables know no such seek.
  kv::ReadOptions ScanOptions() const {
    kv::ReadOptions options;
    options.total_order_seek = !plain_;
    return options;
  }

  template <typename It>
  void CompareRun(const std::string& family, kv::Iterator* it, It begin, It end, bool forwards) {
    const std::string way = forwards ? "forwards" : "backwards";
    for (It want = begin; want != end; ++want) {
      if (!it->Valid())
        return Wrong(family, way + ": ends early " + it->status().ToString(), want->first);
      if (it->key() != kv::Slice(want->first)) {
        return Wrong(family, way + ": found " + it->key().ToString(true), want->first);
      }
      if (it->value() != kv::Slice(want->second))
        return Wrong(family, way + ": value", want->first);
      if (!AreColumns(it->columns(), want->first, want->second,
                      wanted_[family].entities.contains(want->first)))
        return Wrong(family, way + ": columns", want->first);
      forwards ? it->Next() : it->Prev();
    }
    if (it->Valid()) Wrong(family, way + ": one too many", it->key().ToString());
    Note(it->status(), way);
  }

  static bool AreColumns(const kv::WideColumns& columns, const std::string& key,
                         const std::string& value, bool entity) {
    kv::WideColumns expected{{"", value}};
    if (entity) expected.emplace_back("key", key);
    return columns == expected;
  }

  void Entities(const std::string& family, const Wanted& wanted) {
    for (const auto& [key, expected] : wanted.present) {
      kv::PinnableWideColumns columns;
      Note(db_->GetEntity(kv::ReadOptions(), Family(family), key, &columns), "get entity");
      if (!AreColumns(columns.columns(), key, expected, wanted.entities.contains(key))) {
        return Wrong(family, "get entity", key);
      }
    }
  }

  void Scan(const std::string& family, const Wanted& wanted, bool forwards) {
    std::unique_ptr<kv::Iterator> it(db_->NewIterator(ScanOptions(), Family(family)));
    if (forwards) {
      it->SeekToFirst();
      CompareRun(family, it.get(), wanted.present.begin(), wanted.present.end(), true);
    } else {
      it->SeekToLast();
      CompareRun(family, it.get(), wanted.present.rbegin(), wanted.present.rend(), false);
    }
  }

  void PointReads(const std::string& family, const Wanted& wanted) {
    std::string value;
    for (const auto& [key, expected] : wanted.present) {
      Note(db_->Get(kv::ReadOptions(), Family(family), key, &value), "get");
      if (!problem_.empty() || value != expected) return Wrong(family, "get", key);
    }
    for (const std::string& key : wanted.absent) {
      const kv::Status s = db_->Get(kv::ReadOptions(), Family(family), key, &value);
      if (!s.IsNotFound()) return Wrong(family, "get of an absent key: " + s.ToString(), key);
    }
  }

  void Seeks(const std::string& family, const Wanted& wanted) {
    std::unique_ptr<kv::Iterator> it(db_->NewIterator(ScanOptions(), Family(family)));
    for (const std::string& key : wanted.absent) {
      const auto next = wanted.present.lower_bound(key);
      it->Seek(key);
      if (it->Valid() != (next != wanted.present.end()) ||
          (it->Valid() && it->key() != kv::Slice(next->first))) {
        return Wrong(family, "seek", key);
      }
      it->SeekForPrev(key);
      if (it->Valid() != (next != wanted.present.begin()) ||
          (it->Valid() && it->key() != kv::Slice(std::prev(next)->first))) {
        return Wrong(family, "seek for the previous", key);
      }
    }
    Note(it->status(), "seeks");
  }

  void ManyReads(const std::string& family, const Wanted& wanted) {
    std::vector<std::string> keys(wanted.absent.begin(), wanted.absent.end());
    for (const auto& [key, value] : wanted.present) keys.push_back(key);
    if (keys.size() > kManyReads) keys.resize(kManyReads);
    const std::vector<kv::Slice> slices(keys.begin(), keys.end());
    std::vector<kv::PinnableSlice> values(keys.size());
    std::vector<kv::Status> statuses(keys.size());
    db_->MultiGet(kv::ReadOptions(), Family(family), keys.size(), slices.data(), values.data(),
                  statuses.data());
    for (size_t i = 0; i < keys.size(); i++) {
      const auto want = wanted.present.find(keys[i]);
      if (want == wanted.present.end()) {
        if (!statuses[i].IsNotFound()) return Wrong(family, "multiget, absent", keys[i]);
      } else if (!statuses[i].ok() || values[i] != kv::Slice(want->second)) {
        return Wrong(family, "multiget: " + statuses[i].ToString(), keys[i]);
      }
    }
  }

  static constexpr size_t kManyReads = 200;

  kv::DBOptions db_options_;
  const std::shared_ptr<StepCounter> steps_ = std::make_shared<StepCounter>();
  std::string fast_bytes_;
  bool plain_ = false;
  bool has_prefixes_ = false;
  std::vector<kv::ColumnFamilyDescriptor> families_;
  std::unique_ptr<kv::DB> db_;
  std::map<std::string, kv::ColumnFamilyHandle*> handles_;
  std::vector<const kv::Snapshot*> snapshots_;
  std::unique_ptr<kv::WriteBatch> batch_;
  bool sync_next_ = false;
  std::map<std::string, Wanted> wanted_;
  uint64_t compared_ = 0;
  std::string problem_;
};

inline int RunDriver(int argc, char** argv) {
  return RunScriptFile<Driver>(argc, argv);
}

}  // namespace interop
