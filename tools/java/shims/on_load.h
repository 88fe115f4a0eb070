// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines JNI_OnLoad, which refuses Java classes that are not those of the glue's version when the
// library is loaded, by an error that names both versions. RocksDB's jars say their version in the
// file's name only, so the native functions that the classes declare are compared with those of the
// glue, too: a jar of another name is accepted if it declares the same. What the glue calls in Java
// is not compared. Only the source that tools/java/build writes may include this header.

#include <jni.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace varve::java::loading {

// The native functions that the glue has, as "Class#name(parameters)result", sorted by class.
inline constexpr std::string_view kNatives[] = {
#include "java_natives.inc"
};

inline constexpr std::string_view kPackage = "org.rocksdb.";

// Frees the local references that are made while it lives.
class LocalFrame {
 public:
  explicit LocalFrame(JNIEnv* env) : env_(env), pushed_(env->PushLocalFrame(16) == JNI_OK) {}
  ~LocalFrame() {
    if (pushed_) env_->PopLocalFrame(nullptr);
  }
  LocalFrame(const LocalFrame&) = delete;
  LocalFrame& operator=(const LocalFrame&) = delete;

 private:
  JNIEnv* const env_;
  const bool pushed_;
};

// Calls of Java's reflection. After one that has thrown, all others do nothing and return null.
class Reflection {
 public:
  explicit Reflection(JNIEnv* env) : env_(env) {}

  bool failed() const { return env_->ExceptionCheck() != JNI_FALSE; }

  template <typename... Args>
  jobject Call(jobject object, const char* class_name, const char* name, const char* signature,
               Args... args) {
    const jmethodID method = Method(class_name, name, signature, /*of_class=*/false);
    if (method == nullptr || object == nullptr) return nullptr;
    return Checked(env_->CallObjectMethod(object, method, args...));
  }

  template <typename... Args>
  jobject CallStatic(const char* class_name, const char* name, const char* signature,
                     Args... args) {
    const jmethodID method = Method(class_name, name, signature, /*of_class=*/true);
    if (method == nullptr) return nullptr;
    return Checked(env_->CallStaticObjectMethod(class_, method, args...));
  }

  jint Modifiers(jobject method) {
    const jmethodID get = Method("java/lang/reflect/Method", "getModifiers", "()I", false);
    const jint modifiers = get == nullptr ? 0 : env_->CallIntMethod(method, get);
    return failed() ? 0 : modifiers;
  }

  std::string Text(jobject string) {
    if (string == nullptr || failed()) return "";
    const char* const chars = env_->GetStringUTFChars(static_cast<jstring>(string), nullptr);
    if (chars == nullptr) return "";
    std::string text = chars;
    env_->ReleaseStringUTFChars(static_cast<jstring>(string), chars);
    return text;
  }

 private:
  // The interface demands that a caller asks for an exception after each call.
  jobject Checked(jobject result) const { return failed() ? nullptr : result; }

  jmethodID Method(const char* class_name, const char* name, const char* signature, bool of_class) {
    if (failed()) return nullptr;
    class_ = env_->FindClass(class_name);
    if (class_ == nullptr) return nullptr;
    return of_class ? env_->GetStaticMethodID(class_, name, signature)
                    : env_->GetMethodID(class_, name, signature);
  }

  JNIEnv* const env_;
  jclass class_ = nullptr;
};

// Returns the file that the class was loaded from; "" if it is not known.
inline std::string JarOf(JNIEnv* env, jclass of) {
  const LocalFrame frame(env);
  Reflection java(env);
  jobject found =
      java.Call(of, "java/lang/Class", "getProtectionDomain", "()Ljava/security/ProtectionDomain;");
  found = java.Call(found, "java/security/ProtectionDomain", "getCodeSource",
                    "()Ljava/security/CodeSource;");
  found = java.Call(found, "java/security/CodeSource", "getLocation", "()Ljava/net/URL;");
  found = java.Call(found, "java/net/URL", "getPath", "()Ljava/lang/String;");
  std::string path = java.Text(found);
  env->ExceptionClear();
  return path;
}

// Returns what a file's name says after "rocksdbjni-", without ".jar"; "" if it is not so called.
inline std::string VersionOf(const std::string& jar) {
  constexpr std::string_view kStart = "rocksdbjni-";
  constexpr std::string_view kEnd = ".jar";
  const size_t at = jar.rfind(kStart);
  if (at == std::string::npos || !jar.ends_with(kEnd)) return "";
  const size_t begin = at + kStart.size();
  return jar.substr(begin, jar.size() - begin - kEnd.size());
}

// Returns "name(parameters)result" of a function that java.lang.reflect.Method describes.
inline std::string Describe(Reflection* java, jobject method) {
  constexpr char kMethod[] = "java/lang/reflect/Method";
  const std::string name =
      java->Text(java->Call(method, kMethod, "getName", "()Ljava/lang/String;"));
  const jobject result = java->Call(method, kMethod, "getReturnType", "()Ljava/lang/Class;");
  const jobject parameters =
      java->Call(method, kMethod, "getParameterTypes", "()[Ljava/lang/Class;");
  const jobject type = java->CallStatic(
      "java/lang/invoke/MethodType", "methodType",
      "(Ljava/lang/Class;[Ljava/lang/Class;)Ljava/lang/invoke/MethodType;", result, parameters);
  return name + java->Text(java->Call(type, "java/lang/invoke/MethodType",
                                      "toMethodDescriptorString", "()Ljava/lang/String;"));
}

// Returns the sorted native functions of a class, "Class#name(parameters)result", without
// initializing it; none if there is no such class.
inline std::vector<std::string> NativesOf(JNIEnv* env, jobject loader,
                                          const std::string& class_name) {
  constexpr jint kNative = 0x100;  // java.lang.reflect.Modifier.NATIVE
  const LocalFrame frame(env);
  Reflection java(env);
  std::vector<std::string> natives;
  const std::string full_name = std::string(kPackage) + class_name;
  const jobject found = java.CallStatic(
      "java/lang/Class", "forName", "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;",
      env->NewStringUTF(full_name.c_str()), jboolean{JNI_FALSE}, loader);
  auto* const methods = static_cast<jobjectArray>(
      java.Call(found, "java/lang/Class", "getDeclaredMethods", "()[Ljava/lang/reflect/Method;"));
  const jsize count = methods == nullptr ? 0 : env->GetArrayLength(methods);
  for (jsize i = 0; i < count && !java.failed(); i++) {
    const LocalFrame frame_of_method(env);
    const jobject method = env->GetObjectArrayElement(methods, i);
    if ((java.Modifiers(method) & kNative) == 0) continue;
    natives.push_back(class_name + "#" + Describe(&java, method));
  }
  env->ExceptionClear();
  std::sort(natives.begin(), natives.end());
  return natives;
}

// Returns the first difference between the natives of the classes and the glue's; "" if none.
inline std::string FirstDifference(JNIEnv* env, jobject loader) {
  std::vector<std::string> expected(std::begin(kNatives), std::end(kNatives));
  std::sort(expected.begin(), expected.end());
  for (size_t begin = 0; begin < expected.size();) {
    const std::string class_name = expected[begin].substr(0, expected[begin].find('#'));
    size_t end = begin;
    while (end < expected.size() && expected[end].starts_with(class_name + "#")) end++;
    const std::vector<std::string> natives = NativesOf(env, loader, class_name);
    for (const std::string& native : natives) {
      if (!std::binary_search(expected.begin() + begin, expected.begin() + end, native)) {
        return std::string(kPackage) + native + " is in the jar only";
      }
    }
    // A class without natives was left out by what packed the program, and can do no harm.
    for (size_t i = natives.empty() ? end : begin; i < end; i++) {
      if (!std::binary_search(natives.begin(), natives.end(), expected[i])) {
        return std::string(kPackage) + expected[i] + " is in the library only";
      }
    }
    begin = end;
  }
  return "";
}

// Throws a LinkageError, which the jar's loader does not catch: after an UnsatisfiedLinkError it
// would take the library that is in the jar.
inline void Refuse(JNIEnv* env, const std::string& jar, const std::string& why) {
  const jclass error = env->FindClass("java/lang/LinkageError");
  if (error == nullptr) return;
  const std::string version = VersionOf(jar);
  const std::string text =
      "this librocksdbjni runs RocksDB " VARVE_JAVA_GLUE "'s classes on Varve, and these are of " +
      (version.empty() ? "another version" : version) + " (" + jar + ": " + why +
      "); take rocksdbjni-" VARVE_JAVA_GLUE ".jar, or build the library of that version's glue";
  env->ThrowNew(error, text.c_str());
}

// Leaves an exception in `env` if the classes that load this library are of another version.
inline void CheckClasses(JNIEnv* env) {
  const LocalFrame frame(env);
  const jclass loads = env->FindClass("org/rocksdb/NativeLibraryLoader");
  if (loads == nullptr) {  // A program that calls RocksDB's classes by another name.
    env->ExceptionClear();
    return;
  }
  const std::string jar = JarOf(env, loads);
  const std::string version = VersionOf(jar);
  if (!version.empty() && version != VARVE_JAVA_GLUE) {
    Refuse(env, jar, "its name says so");
    return;
  }
  Reflection java(env);
  const jobject loader =
      java.Call(loads, "java/lang/Class", "getClassLoader", "()Ljava/lang/ClassLoader;");
  env->ExceptionClear();
  const std::string difference = FirstDifference(env, loader);
  if (!difference.empty()) Refuse(env, jar, difference);
}

}  // namespace varve::java::loading

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void* /*reserved*/) {
  void* env = nullptr;
  if (vm->GetEnv(&env, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  varve::java::loading::CheckClasses(static_cast<JNIEnv*>(env));
  return JNI_VERSION_1_6;
}
