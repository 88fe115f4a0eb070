// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Customizable is a Configurable with a name, by which it can be created, and found within
// wrappers. Base of the configurable parts of a database.
//
//   varve::ConfigOptions config;
//   std::shared_ptr<varve::MergeOperator> op;
//   varve::Status s = varve::MergeOperator::CreateFromString(config, "uint64add", &op);
//   if (s.ok()) assert(op->IsInstanceOf("UInt64AddOperator"));

#include <string>
#include <unordered_map>

#include "varve/configurable.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

/// A class with several implementations, such as Comparator, has `static const char* Type()`, and
/// usually CreateFromString(), which makes a built-in or registered object by name
/// (varve/utilities/object_registry.h). An implementation that CheckedCast() can return has `static
/// const char* kClassName()`.
class VARVE_EXPORT Customizable : public Configurable {
 public:
  Customizable() = default;
  Customizable(const Customizable&) = default;
  Customizable& operator=(const Customizable&) = default;
  ~Customizable() override;

  /// Returns the name under which OPTIONS files and messages know the class.
  virtual const char* Name() const = 0;
  /// Returns another, usually shorter, name of the class; "" for none.
  virtual const char* NickName() const { return ""; }
  /// Returns the text from which CreateFromString() makes such an object.
  virtual std::string GetId() const { return Name(); }
  /// Returns "Name@address#process", an id that no other object has.
  std::string GenerateIndividualId() const;

  /// True if the class has that name. Wrapped objects are not considered.
  virtual bool IsInstanceOf(const std::string& name) const;

  /// Returns the wrapped object, or null.
  virtual const Customizable* Inner() const { return nullptr; }

  /// Returns the object named T::kClassName(): this or one wrapped at any depth; null if there is
  /// none.
  template <typename T>
  const T* CheckedCast() const {
    return static_cast<const T*>(FindInstance(T::kClassName()));
  }
  template <typename T>
  T* CheckedCast() {
    return const_cast<T*>(static_cast<const T*>(FindInstance(T::kClassName())));
  }

  /// Sets *value to GetId() for the name "id"; does what the base version does for other names.
  Status GetOption(const ConfigOptions& config_options, const std::string& name,
                   std::string* value) const override;
  /// Compares the ids, and then the options as the base version does, if
  /// config_options.sanity_level is at least kSanityLevelLooselyCompatible; below it, returns true.
  /// If the ids differ, sets `*name` to "id".
  bool AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                     std::string* name) const override;

  using Configurable::GetOptionsMap;
  /// Like the base version with the id of `custom`, which may be null, as default; if the text has
  /// that id, adds the options of `custom` that the text does not name.
  static Status GetOptionsMap(const ConfigOptions& config_options, const Customizable* custom,
                              const std::string& opt_value, std::string* id,
                              std::unordered_map<std::string, std::string>* options);

  /// Calls ConfigureFromMap() of `object`. InvalidArgument if it is null and there are options.
  static Status ConfigureNewObject(const ConfigOptions& config_options, Customizable* object,
                                   const std::unordered_map<std::string, std::string>& options);

 private:
  const Customizable* FindInstance(const std::string& name) const;
};

}  // namespace varve
