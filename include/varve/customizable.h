// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Customizable: a Configurable that has a name, by which it can be made, and known again inside of
// what wraps it. The base of the classes that a database is put together from.

#include <string>
#include <unordered_map>

#include "varve/configurable.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

/// A class of which there are several kinds - such as Comparator - has `static const char* Type()`,
/// and mostly CreateFromString(), which makes an object of a name that is built in, or registered
/// (varve/utilities/object_registry.h). A kind that can be asked for with CheckedCast() has
/// `static const char* kClassName()`.
class VARVE_EXPORT Customizable : public Configurable {
 public:
  Customizable() = default;
  Customizable(const Customizable&) = default;
  Customizable& operator=(const Customizable&) = default;
  ~Customizable() override;

  virtual const char* Name() const = 0;
  /// Another name of the class, mostly shorter; "" for none.
  virtual const char* NickName() const { return ""; }
  /// What CreateFromString() makes such an object from.
  virtual std::string GetId() const { return Name(); }
  /// "Name@address#process": an id that no other object has.
  std::string GenerateIndividualId() const;

  /// Whether the class is called that. What the object wraps does not count.
  virtual bool IsInstanceOf(const std::string& name) const;

  /// What the object wraps, or null.
  virtual const Customizable* Inner() const { return nullptr; }

  /// The object, or what it wraps at any depth, if that is called T::kClassName(); otherwise null.
  template <typename T>
  const T* CheckedCast() const {
    return static_cast<const T*>(FindInstance(T::kClassName()));
  }
  template <typename T>
  T* CheckedCast() {
    return const_cast<T*>(static_cast<const T*>(FindInstance(T::kClassName())));
  }

  /// "id" gives GetId().
  Status GetOption(const ConfigOptions& config_options, const std::string& name,
                   std::string* value) const override;
  /// The ids are compared from kSanityLevelLooselyCompatible on, as "id".
  bool AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                     std::string* name) const override;

  using Configurable::GetOptionsMap;
  /// The same about `custom`, which may be null: its id is the default one, and where the text has
  /// that id, options of `custom` are added that it does not name.
  static Status GetOptionsMap(const ConfigOptions& config_options, const Customizable* custom,
                              const std::string& opt_value, std::string* id,
                              std::unordered_map<std::string, std::string>* options);

  /// ConfigureFromMap() of `object`. InvalidArgument: it is null, and there are options.
  static Status ConfigureNewObject(const ConfigOptions& config_options, Customizable* object,
                                   const std::unordered_map<std::string, std::string>& options);

 private:
  const Customizable* FindInstance(const std::string& name) const;
};

}  // namespace varve
