// SPDX-License-Identifier: Apache-2.0

// A registry finds the factory of an object by its type and a text, in three steps: libraries of
// the registry from the last added on, then those of its parent; in a library the entries of the
// type in the order in which they were added; the first whose pattern matches makes the object.
//
// A pattern is a name and then parts, each a separator with what may follow it. The text after a
// separator ends at any later occurrence of the next separator that lets the rest match: matching
// tries them from the left, and goes back.
//
// Libraries and registries lock for themselves, only while they look at their lists. A factory is
// called without a lock, so it may use the registry.

#include "varve/utilities/object_registry.h"

#include <algorithm>
#include <utility>

#include "varve/env.h"

namespace varve {

namespace {

bool AllDigits(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

// ---- Patterns ----

ObjectLibrary::PatternEntry::PatternEntry(const std::string& name, bool optional)
    : names_{name}, optional_(optional) {}

ObjectLibrary::PatternEntry ObjectLibrary::PatternEntry::AsIndividualId(const std::string& name) {
  PatternEntry entry(name, /*optional=*/true);
  entry.AddSeparator("@");
  entry.AddNumber("#");
  return entry;
}

ObjectLibrary::PatternEntry& ObjectLibrary::PatternEntry::SetOptional(bool optional) {
  optional_ = optional;
  return *this;
}

ObjectLibrary::PatternEntry& ObjectLibrary::PatternEntry::AnotherName(
    const std::string& alternative) {
  names_.push_back(alternative);
  return *this;
}

ObjectLibrary::PatternEntry& ObjectLibrary::PatternEntry::AddSeparator(const std::string& separator,
                                                                       bool at_least_one) {
  parts_.push_back({separator, at_least_one ? Follows::kSomething : Follows::kAnything});
  return *this;
}

ObjectLibrary::PatternEntry& ObjectLibrary::PatternEntry::AddSuffix(const std::string& suffix) {
  parts_.push_back({suffix, Follows::kNothing});
  return *this;
}

ObjectLibrary::PatternEntry& ObjectLibrary::PatternEntry::AddNumber(const std::string& separator,
                                                                    bool is_int) {
  parts_.push_back({separator, is_int ? Follows::kInteger : Follows::kDecimal});
  return *this;
}

bool ObjectLibrary::PatternEntry::Fits(Follows follows, const std::string& text) {
  const std::string number = text.substr(text.starts_with('-') ? 1 : 0);
  const size_t point = number.find('.');
  switch (follows) {
    case Follows::kNothing:
      return text.empty();
    case Follows::kAnything:
      return true;
    case Follows::kSomething:
      return !text.empty();
    case Follows::kInteger:
      return AllDigits(number);
    case Follows::kDecimal:
      if (point == std::string::npos) return AllDigits(number);
      return AllDigits(number.substr(0, point)) && AllDigits(number.substr(point + 1));
  }
  return false;
}

// The text after a separator ends at the first occurrence of the next separator from which the rest
// matches, too.
bool ObjectLibrary::PatternEntry::PartsMatch(const std::string& rest, size_t part) const {
  if (part == parts_.size()) return rest.empty();
  const auto& [separator, follows] = parts_[part];
  if (!rest.starts_with(separator)) return false;
  const std::string text = rest.substr(separator.size());
  if (part + 1 == parts_.size()) return Fits(follows, text);
  for (size_t end = text.find(parts_[part + 1].separator); end != std::string::npos;
       end = text.find(parts_[part + 1].separator, end + 1)) {
    if (Fits(follows, text.substr(0, end)) && PartsMatch(text.substr(end), part + 1)) return true;
  }
  return false;
}

bool ObjectLibrary::PatternEntry::Matches(const std::string& target) const {
  return std::ranges::any_of(names_, [&](const std::string& name) {
    if (!target.starts_with(name)) return false;
    if (target.size() == name.size() && optional_) return true;
    return PartsMatch(target.substr(name.size()), 0);
  });
}

// ---- Libraries ----

std::shared_ptr<ObjectLibrary>& ObjectLibrary::Default() {
  static auto* const library =
      new std::shared_ptr<ObjectLibrary>(std::make_shared<ObjectLibrary>("default"));
  return *library;
}

void ObjectLibrary::Add(const Kind& kind, std::unique_ptr<Entry> entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_[kind].push_back(std::move(entry));
}

// The entry is used after the lock is released: entries are only added, and each has memory of its
// own.
const ObjectLibrary::Entry* ObjectLibrary::Find(const Kind& kind, const std::string& target) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto of_kind = entries_.find(kind);
  if (of_kind == entries_.end()) return nullptr;
  const auto found = std::ranges::find_if(
      of_kind->second, [&](const auto& entry) { return entry->Matches(target); });
  return found == of_kind->second.end() ? nullptr : found->get();
}

size_t ObjectLibrary::GetFactoryCount(size_t* num_types) const {
  std::unordered_set<std::string> types;
  GetFactoryTypes(&types);
  if (num_types != nullptr) *num_types = types.size();
  size_t count = 0;
  for (const std::string& type : types) count += GetFactoryCount(type);
  return count;
}

size_t ObjectLibrary::GetFactoryCount(const std::string& type) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t count = 0;
  for (const auto& [kind, entries] : entries_) count += kind.first == type ? entries.size() : 0;
  return count;
}

void ObjectLibrary::GetFactoryNames(const std::string& type,
                                    std::unordered_set<std::string>* names) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [kind, entries] : entries_) {
    if (kind.first != type) continue;
    for (const auto& entry : entries) names->insert(entry->Name());
  }
}

void ObjectLibrary::GetFactoryTypes(std::unordered_set<std::string>* types) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [kind, entries] : entries_) types->insert(kind.first);
}

void ObjectLibrary::Dump(Logger* logger) const {
  std::string text;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [kind, entries] : entries_) {
      text += " " + kind.first + ":";
      for (const auto& entry : entries) text += std::string(" ") + entry->Name();
    }
  }
  Info(logger, "object library %s:%s", id_.c_str(), text.c_str());
}

// ---- Registries ----

std::shared_ptr<ObjectRegistry> ObjectRegistry::Default() {
  static auto* const registry = new std::shared_ptr<ObjectRegistry>(
      std::make_shared<ObjectRegistry>(ObjectLibrary::Default()));
  return *registry;
}

std::shared_ptr<ObjectRegistry> ObjectRegistry::NewInstance() {
  return NewInstance(Default());
}

std::shared_ptr<ObjectRegistry> ObjectRegistry::NewInstance(
    const std::shared_ptr<ObjectRegistry>& parent) {
  return std::make_shared<ObjectRegistry>(parent);
}

std::shared_ptr<ObjectLibrary> ObjectRegistry::AddLibrary(const std::string& id) {
  auto library = std::make_shared<ObjectLibrary>(id);
  AddLibrary(library);
  return library;
}

void ObjectRegistry::AddLibrary(const std::shared_ptr<ObjectLibrary>& library) {
  const std::lock_guard<std::mutex> lock(mutex_);
  libraries_.push_back(library);
}

void ObjectRegistry::AddLibrary(const std::string& id, const RegistrarFunc& registrar,
                                const std::string& arg) {
  auto library = std::make_shared<ObjectLibrary>(id);
  registrar(*library, arg);
  AddLibrary(library);
}

Status ObjectRegistry::NotRegistered(const char* type, const std::string& target) {
  return Status::NotSupported(std::string("no factory was registered: ").append(type), target);
}

Status ObjectRegistry::Unusable(const char* type, const std::string& target,
                                const std::string& why) {
  return Status::InvalidArgument(std::string("factory of a ").append(type).append(": ").append(why),
                                 target);
}

// Newest first, because a library that is added later may replace names of earlier ones. A copy, so
// that factories are called without the lock.
std::vector<std::shared_ptr<ObjectLibrary>> ObjectRegistry::Libraries() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {libraries_.rbegin(), libraries_.rend()};
}

size_t ObjectRegistry::GetFactoryCount(const std::string& type) const {
  size_t count = parent_ == nullptr ? 0 : parent_->GetFactoryCount(type);
  for (const auto& library : Libraries()) count += library->GetFactoryCount(type);
  return count;
}

void ObjectRegistry::GetFactoryNames(const std::string& type,
                                     std::unordered_set<std::string>* names) const {
  if (parent_ != nullptr) parent_->GetFactoryNames(type, names);
  for (const auto& library : Libraries()) library->GetFactoryNames(type, names);
}

void ObjectRegistry::GetFactoryTypes(std::unordered_set<std::string>* types) const {
  if (parent_ != nullptr) parent_->GetFactoryTypes(types);
  for (const auto& library : Libraries()) library->GetFactoryTypes(types);
}

void ObjectRegistry::Dump(Logger* logger) const {
  for (const auto& library : Libraries()) library->Dump(logger);
  if (parent_ != nullptr) parent_->Dump(logger);
}

}  // namespace varve
