// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns a program that obeys a script of operations on one family with timestamps of 64 bits, as
// driver.h does without. The file that includes this one names the engine before, and says whether
// its logs tell how long timestamps are and it merges, and whether iterators over history go
// backwards as they go forwards: `namespace kv = varve;`, `constexpr bool kKnowsAll = true;` and
// `constexpr bool kWalksBackwards = true;`.
//
// A script has one command a line; keys and values are hex, "-" stands for nothing, T and U are
// timestamps as decimal numbers:
//   knows-all                             a problem unless kKnowsAll
//   options DB FAMILY                     before `open`; texts of options, "-" for the defaults
//   open DIR | reader DIR                 reader: read-only
//   put K T V | merge K T V | del K T | sdel K T | range BEGIN T END
//   batch | write                         changes in between are one batch
//   flush | compact | raise T             raise: IncreaseFullHistoryTsLow
//   mark T                                what GetFullHistoryTsLow must say, "-" for none
//   view T                                what follows is what must be there as of T
//   want K T V | absent K | check         in order of keys; `check` compares
//   history T U                           what follows is what was written from T to U
//   version K T TYPE V | walk             TYPE: of the internal key; `walk` compares
//   refused T                             reads as of then are InvalidArgument
//   checksums                             VerifyChecksum
//   close | quit                          quit: the process ends without closing
// The first thing that goes wrong is printed, and ends the process with 1.

#include <unistd.h>

#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/interop/script_file.h"

namespace interop {

inline std::string FromHex(const std::string& text) {
  if (text == "-") return "";
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Little-endian, as the comparator has it.
inline std::string Stamp(const std::string& number) {
  uint64_t rest = std::stoull(number);
  std::string bytes;
  for (int i = 0; i < 8; i++, rest >>= 8) bytes.push_back(static_cast<char>(rest & 255));
  return bytes;
}

class TimestampDriver {
 public:
  // Returns 0 if every command succeeded.
  int Run(std::istream& script) {
    std::string line;
    for (size_t number = 1; problem_.empty() && std::getline(script, line); number++) {
      std::istringstream stream(line);
      std::vector<std::string> words;
      for (std::string word; stream >> word;) words.push_back(word);
      if (words.empty()) continue;
      words.resize(5);
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
  // An entry that must be shown.
  struct Entry {
    std::string key;
    std::string timestamp;
    std::string value;
    int type = -1;  // -1: not shown
  };
  // A moment, or all from `from` on, and what must be there.
  struct View {
    std::string from;
    std::string to;
    std::vector<Entry> entries;
    std::vector<std::string> absent;
  };

  void Step(const std::vector<std::string>& w) {
    const std::string& verb = w[0];
    if (verb == "put" || verb == "merge" || verb == "del" || verb == "sdel" || verb == "range") {
      Change(w);
    } else if (verb == "batch") {
      batch_ = std::make_unique<kv::WriteBatch>();
    } else if (verb == "write") {
      Note(db_->Write(kv::WriteOptions(), batch_.get()), "write");
      batch_.reset();
    } else if (verb == "view" || verb == "history") {
      view_ = View();
      view_.from = verb == "history" ? Stamp(w[1]) : "";
      view_.to = Stamp(verb == "history" ? w[2] : w[1]);
    } else if (verb == "want") {
      view_.entries.push_back({FromHex(w[1]), Stamp(w[2]), FromHex(w[3])});
    } else if (verb == "absent") {
      view_.absent.push_back(FromHex(w[1]));
    } else if (verb == "version") {
      view_.entries.push_back({FromHex(w[1]), Stamp(w[2]), FromHex(w[4]), std::stoi(w[3])});
    } else if (verb == "check") {
      Check();
    } else if (verb == "walk") {
      Walk();
    } else {
      Maintain(w);
    }
  }

  void Maintain(const std::vector<std::string>& w) {
    const std::string& verb = w[0];
    if (verb == "knows-all") {
      if (!kKnowsAll) problem_ = "logs do not tell of timestamps, or there are no merges";
    } else if (verb == "options") {
      Options(w);
    } else if (verb == "open" || verb == "reader") {
      Open(w[1], verb == "reader");
    } else if (verb == "flush") {
      Note(db_->Flush(kv::FlushOptions(), family_), "flush");
    } else if (verb == "compact") {
      kv::CompactRangeOptions options;
      options.bottommost_level_compaction = kv::BottommostLevelCompaction::kForce;
      Note(db_->CompactRange(options, family_, nullptr, nullptr), "compact");
    } else if (verb == "raise") {
      Note(db_->IncreaseFullHistoryTsLow(family_, Stamp(w[1])), "raise");
    } else if (verb == "mark") {
      Mark(w[1]);
    } else if (verb == "refused") {
      Refused(w[1]);
    } else if (verb == "checksums") {
      Note(db_->VerifyChecksum(kv::ReadOptions()), "checksums");
    } else if (verb == "close") {
      Close();
    } else if (verb == "quit") {
      Note(db_->PauseBackgroundWork(), "pause");
      std::cout << "OK compared=" << compared_ << std::endl;
      _exit(0);
    } else {
      problem_ = "unknown command " + verb;
    }
  }

  void Note(const kv::Status& s, const std::string& what) {
    if (!s.ok() && problem_.empty()) problem_ = what + ": " + s.ToString();
  }

  void Options(const std::vector<std::string>& w) {
    kv::ConfigOptions config;
    config.ignore_unsupported_options = false;
    if (w[1] != "-") {
      Note(kv::GetDBOptionsFromString(config, db_options_, w[1], &db_options_), "options");
    }
    if (w[2] != "-") {
      Note(kv::GetColumnFamilyOptionsFromString(config, kv::ColumnFamilyOptions(), w[2],
                                                &family_options_),
           "options");
    }
  }

  void Open(const std::string& directory, bool read_only) {
    const std::vector<kv::ColumnFamilyDescriptor> families = {{"default", family_options_}};
    std::vector<kv::ColumnFamilyHandle*> opened;
    kv::DB* db = nullptr;
    Note(read_only ? kv::DB::OpenForReadOnly(db_options_, directory, families, &opened, &db)
                   : kv::DB::Open(db_options_, directory, families, &opened, &db),
         "open");
    db_.reset(db);
    if (!opened.empty()) family_ = opened[0];
  }

  void Close() {
    Note(db_->DestroyColumnFamilyHandle(family_), "handle");
    Note(db_->Close(), "close");
    db_.reset();
  }

  void Change(const std::vector<std::string>& w) {
    kv::WriteBatch single;
    kv::WriteBatch* const batch = batch_ != nullptr ? batch_.get() : &single;
    const std::string key = FromHex(w[1]);
    const std::string timestamp = Stamp(w[2]);
    const std::string value = FromHex(w[3]);
    if (w[0] == "put") Note(batch->Put(family_, key, timestamp, value), "put");
    if (w[0] == "merge") Note(batch->Merge(family_, key, timestamp, value), "merge");
    if (w[0] == "del") Note(batch->Delete(family_, key, timestamp), "del");
    if (w[0] == "sdel") Note(batch->SingleDelete(family_, key, timestamp), "sdel");
    if (w[0] == "range") Note(batch->DeleteRange(family_, key, value, timestamp), "range");
    if (batch_ == nullptr) Note(db_->Write(kv::WriteOptions(), batch), w[0]);
  }

  void Mark(const std::string& wanted) {
    std::string mark;
    Note(db_->GetFullHistoryTsLow(family_, &mark), "mark");
    if (mark != (wanted == "-" ? "" : Stamp(wanted)) && problem_.empty()) {
      problem_ = "WRONG: the mark is " + kv::Slice(mark).ToString(true) + " instead of " + wanted;
    }
  }

  void Refused(const std::string& time) {
    const std::string bytes = Stamp(time);
    const kv::Slice as_of(bytes);
    kv::ReadOptions options;
    options.timestamp = &as_of;
    std::string value;
    const kv::Status s = db_->Get(options, family_, "k", &value);
    if (!s.IsInvalidArgument()) problem_ = "WRONG: read as of " + time + ": " + s.ToString();
  }

  void Wrong(const std::string& what, const std::string& key) {
    if (!problem_.empty()) return;
    problem_ = "WRONG: as of " + kv::Slice(view_.to).ToString(true) + ": " + what + " at key " +
               kv::Slice(key).ToString(true);
  }

  // An entry below full_history_ts_low may have got the oldest timestamp of all.
  bool SameTime(const std::string& wanted, const kv::Slice& found) {
    if (found == kv::Slice(wanted)) return true;
    std::string mark;
    Note(db_->GetFullHistoryTsLow(family_, &mark), "mark");
    const kv::Comparator* const order = family_->GetComparator();
    return !mark.empty() && order->CompareTimestamp(wanted, mark) < 0 &&
           found == kv::Slice(std::string(8, '\0'));
  }

  void Check() {
    const kv::Slice as_of(view_.to);
    kv::ReadOptions options;
    options.timestamp = &as_of;
    PointReads(options);
    ManyReads(options);
    options.total_order_seek = true;
    std::unique_ptr<kv::Iterator> it(db_->NewIterator(options, family_));
    Scan(it.get(), true);
    Scan(it.get(), false);
    Seeks(it.get());
    compared_ += view_.entries.size() + view_.absent.size();
  }

  void Walk() {
    const kv::Slice from(view_.from);
    const kv::Slice to(view_.to);
    kv::ReadOptions options;
    options.timestamp = &to;
    options.iter_start_ts = &from;
    options.total_order_seek = true;
    std::unique_ptr<kv::Iterator> it(db_->NewIterator(options, family_));
    Scan(it.get(), true);
    if (kWalksBackwards) Scan(it.get(), false);
    compared_ += view_.entries.size();
  }

  void PointReads(const kv::ReadOptions& options) {
    for (const Entry& entry : view_.entries) {
      std::string value;
      std::string timestamp;
      const kv::Status s = db_->Get(options, family_, entry.key, &value, &timestamp);
      if (!s.ok()) return Wrong("get: " + s.ToString(), entry.key);
      if (value != entry.value) return Wrong("get: value", entry.key);
      if (!SameTime(entry.timestamp, timestamp)) return Wrong("get: time", entry.key);
    }
    for (const std::string& key : view_.absent) {
      std::string value;
      const kv::Status s = db_->Get(options, family_, key, &value);
      if (!s.IsNotFound()) return Wrong("get of an absent key: " + s.ToString(), key);
    }
  }

  void ManyReads(const kv::ReadOptions& options) {
    std::vector<kv::Slice> keys;
    for (const Entry& entry : view_.entries) keys.emplace_back(entry.key);
    for (const std::string& key : view_.absent) keys.emplace_back(key);
    std::vector<kv::PinnableSlice> values(keys.size());
    std::vector<std::string> timestamps(keys.size());
    std::vector<kv::Status> statuses(keys.size());
    db_->MultiGet(options, family_, keys.size(), keys.data(), values.data(), timestamps.data(),
                  statuses.data());
    for (size_t i = 0; i < keys.size(); i++) {
      const std::string key = keys[i].ToString();
      if (i >= view_.entries.size()) {
        if (!statuses[i].IsNotFound()) return Wrong("multiget, absent", key);
        continue;
      }
      const Entry& entry = view_.entries[i];
      if (!statuses[i].ok()) return Wrong("multiget: " + statuses[i].ToString(), key);
      if (values[i] != kv::Slice(entry.value)) return Wrong("multiget: value", key);
      if (!SameTime(entry.timestamp, timestamps[i])) return Wrong("multiget: time", key);
    }
  }

  void Scan(kv::Iterator* it, bool forwards) {
    const std::string way = forwards ? "forwards: " : "backwards: ";
    forwards ? it->SeekToFirst() : it->SeekToLast();
    const size_t n = view_.entries.size();
    for (size_t i = 0; i < n; i++) {
      const Entry& entry = view_.entries[forwards ? i : n - 1 - i];
      if (!it->Valid()) return Wrong(way + "ends early " + it->status().ToString(), entry.key);
      CompareEntry(way, it, entry);
      if (!problem_.empty()) return;
      forwards ? it->Next() : it->Prev();
    }
    if (it->Valid()) Wrong(way + "one too many", it->key().ToString());
    Note(it->status(), way);
  }

  void CompareEntry(const std::string& way, kv::Iterator* it, const Entry& entry) {
    std::string key = it->key().ToString();
    if (entry.type >= 0) {
      // The key, the timestamp, a byte of type and seven of sequence number.
      if (key.size() < 16) return Wrong(way + "no internal key", entry.key);
      if (key[key.size() - 8] != static_cast<char>(entry.type)) {
        return Wrong(way + "type " + std::to_string(key[key.size() - 8]), entry.key);
      }
      key.resize(key.size() - 16);
    }
    if (key != entry.key) return Wrong(way + "found " + kv::Slice(key).ToString(true), entry.key);
    if (it->value() != kv::Slice(entry.value)) return Wrong(way + "value", entry.key);
    if (!SameTime(entry.timestamp, it->timestamp())) {
      return Wrong(way + "time " + it->timestamp().ToString(true), entry.key);
    }
  }

  void Seeks(kv::Iterator* it) {
    for (const std::string& key : view_.absent) {
      size_t next = 0;
      while (next < view_.entries.size() && view_.entries[next].key < key) next++;
      it->Seek(key);
      const bool behind = next < view_.entries.size();
      if (it->Valid() != behind || (behind && it->key() != kv::Slice(view_.entries[next].key))) {
        return Wrong("seek", key);
      }
      it->SeekForPrev(key);
      const bool before = next > 0;
      if (it->Valid() != before ||
          (before && it->key() != kv::Slice(view_.entries[next - 1].key))) {
        return Wrong("seek for the previous", key);
      }
    }
    Note(it->status(), "seeks");
  }

  kv::DBOptions db_options_;
  kv::ColumnFamilyOptions family_options_;
  std::unique_ptr<kv::DB> db_;
  kv::ColumnFamilyHandle* family_ = nullptr;
  std::unique_ptr<kv::WriteBatch> batch_;
  View view_;
  uint64_t compared_ = 0;
  std::string problem_;
};

inline int RunTimestampDriver(int argc, char** argv) {
  return RunScriptFile<TimestampDriver>(argc, argv);
}

}  // namespace interop
