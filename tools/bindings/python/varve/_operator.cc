// SPDX-License-Identifier: Apache-2.0

// This file lets merge operators be Python functions. The library calls them on threads of Python,
// within a read, and on threads of its own, which compact.
//
// Each call takes Python's lock. It is not in the way of any lock that the library holds around the
// call, since no thread waits for the library with Python's lock. An operator, and what the garbage
// collector runs within it, must not call the library, which would wait for itself.
//
// When the interpreter ends, calls on other threads must not touch it any more. So calls are
// counted, and EndOperators() refuses new ones before it waits for the others. A refused call
// fails, and the library keeps the operands then.
#include "_operator.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <string>

namespace varve_python {
namespace {

// Names the exception of a thread in the dictionary that Python has for each thread.
constexpr const char* kFailure = "varve.failure";

struct Operator {
  std::string name;
  PyObject* full;     // Owned, as is the next.
  PyObject* partial;  // Null if there is none.
};

CreateOperator create_operator = nullptr;
std::atomic<int> calls{0};       // By the library, under way on all threads.
std::atomic<bool> ended{false};  // No operator may run any more.
// True once an operator has failed: until then no call has to look into its thread's dictionary.
bool any_failure = false;
thread_local int depth = 0;  // Operators that run on this thread, one within the other.

// Holds Python's lock on any thread, unless the interpreter is ending.
class PythonLock {
 public:
  PythonLock() {
    // Counted before the look: EndOperators() sets `ended` and then waits for the count.
    calls++;
    if (ended) return;
    of_python_ = PyGILState_GetThisThreadState() != nullptr;
    state_ = PyGILState_Ensure();
    held_ = true;
    depth++;
  }
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;
  ~PythonLock() {
    if (held_) {
      // The release may end objects of a thread of the library, which is still within the operator.
      PyGILState_Release(state_);
      depth--;
    }
    calls--;
  }
  // Returns false if the interpreter is ending: then nothing of Python may be used.
  bool held() const { return held_; }
  // Returns true if the thread is one of Python: it made the call within which the operator runs.
  bool of_python() const { return of_python_; }

 private:
  PyGILState_STATE state_{};
  bool of_python_ = false;
  bool held_ = false;
};

PyObject* BytesOf(const char* data, size_t size) {
  return PyBytes_FromStringAndSize(data, static_cast<Py_ssize_t>(size));
}

PyObject* ListOf(const char* const* operands, const size_t* sizes, int count) {
  PyObject* const list = PyList_New(count);
  for (int i = 0; list != nullptr && i < count; i++) {
    PyObject* const operand = BytesOf(operands[i], sizes[i]);
    if (operand == nullptr) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, i, operand);
  }
  return list;
}

// Returns a copy of what an operator has returned, which the library frees by free(), or null with
// an exception.
char* CopyOf(PyObject* result, size_t* size) {
  if (PyObject_CheckBuffer(result) == 0) {
    PyErr_Format(PyExc_TypeError, "a merge operator must return bytes, not %s",
                 Py_TYPE(result)->tp_name);
    return nullptr;
  }
  Py_buffer view;
  if (PyObject_GetBuffer(result, &view, PyBUF_SIMPLE) != 0) return nullptr;
  const auto length = static_cast<size_t>(view.len);
  char* const copy = static_cast<char*>(std::malloc(length == 0 ? 1 : length));
  if (copy == nullptr) {
    PyErr_NoMemory();
  } else if (length != 0) {
    std::memcpy(copy, view.buf, length);
  }
  *size = length;
  PyBuffer_Release(&view);
  return copy;
}

// Calls a function, and takes over the arguments; a null one says that an exception is set. Returns
// null for None, if that is allowed, and with an exception after an error.
template <size_t count>
char* Call(PyObject* function, std::array<PyObject*, count> arguments, bool may_be_none,
           size_t* size) {
  bool whole = true;
  for (PyObject* const argument : arguments) whole = whole && argument != nullptr;
  PyObject* const result =
      whole ? PyObject_Vectorcall(function, arguments.data(), count, nullptr) : nullptr;
  char* copy = nullptr;
  if (result != nullptr && !(may_be_none && result == Py_None)) copy = CopyOf(result, size);
  Py_XDECREF(result);
  for (PyObject* const argument : arguments) Py_XDECREF(argument);
  return copy;
}

// Keeps the exception that is set for the call of the library which this thread of Python makes.
void KeepFailure() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  PyObject* const thread = PyThreadState_GetDict();
  if (thread != nullptr && PyDict_SetItemString(thread, kFailure, value) == 0) any_failure = true;
  PyErr_Clear();
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

char* CallFull(void* state, const char* key, size_t key_size, const char* base, size_t base_size,
               const char* const* operands, const size_t* sizes, int count, unsigned char* success,
               size_t* size) {
  *success = 0;
  *size = 0;
  const PythonLock lock;
  if (!lock.held()) return nullptr;
  PyObject* const function = static_cast<Operator*>(state)->full;
  PyObject* const value = base == nullptr ? Py_NewRef(Py_None) : BytesOf(base, base_size);
  char* const merged =
      Call<3>(function, {BytesOf(key, key_size), value, ListOf(operands, sizes, count)},
              /*may_be_none=*/false, size);
  if (merged != nullptr) {
    *success = 1;
  } else if (lock.of_python()) {
    KeepFailure();
  } else {
    PyErr_WriteUnraisable(function);
  }
  return merged;
}

char* CallPartial(void* state, const char* key, size_t key_size, const char* const* operands,
                  const size_t* sizes, int count, unsigned char* success, size_t* size) {
  *success = 0;
  *size = 0;
  const PythonLock lock;
  if (!lock.held()) return nullptr;
  PyObject* const function = static_cast<Operator*>(state)->partial;
  char* const merged = Call<2>(function, {BytesOf(key, key_size), ListOf(operands, sizes, count)},
                               /*may_be_none=*/true, size);
  if (merged != nullptr) *success = 1;
  // The operands stay as they are, so no call fails that could raise the exception.
  if (PyErr_Occurred() != nullptr) PyErr_WriteUnraisable(function);
  return merged;
}

const char* NameOf(void* state) {
  return static_cast<Operator*>(state)->name.c_str();
}

// Frees an operator. Its functions stay where they are if the interpreter is ending.
void Destroy(void* state) {
  auto* const gone = static_cast<Operator*>(state);
  const PythonLock lock;
  if (lock.held()) {
    Py_DECREF(gone->full);
    Py_XDECREF(gone->partial);
  }
  delete gone;
}

}  // namespace

void BindOperators(CreateOperator create) {
  create_operator = create;
}

bool InOperator() {
  return depth != 0;
}

bool CheckOutside() {
  if (depth == 0) return true;
  PyErr_SetString(PyExc_RuntimeError, "a merge operator must not use databases");
  return false;
}

void DropFailure() {
  if (any_failure) Py_XDECREF(TakeFailure());
}

PyObject* TakeFailure() {
  PyObject* const thread = any_failure ? PyThreadState_GetDict() : nullptr;
  PyObject* const failure = thread == nullptr ? nullptr : PyDict_GetItemString(thread, kFailure);
  if (failure == nullptr) return nullptr;
  Py_INCREF(failure);
  if (PyDict_DelItemString(thread, kFailure) != 0) PyErr_Clear();
  return failure;
}

PyObject* MakeOperator(PyObject* /*module*/, PyObject* args) {
  const char* name = nullptr;
  PyObject* full = nullptr;
  PyObject* partial = nullptr;
  if (PyArg_ParseTuple(args, "yOO", &name, &full, &partial) == 0) return nullptr;
  if (ended || PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_RuntimeError,
                    "merge operators need the main interpreter, before it is ending");
    return nullptr;
  }
  const bool has_partial = partial != Py_None;
  Operator* state = nullptr;
  try {
    state = new Operator{name, full, has_partial ? partial : nullptr};
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  Py_INCREF(full);
  Py_XINCREF(state->partial);
  void* const made = create_operator(state, &Destroy, &CallFull,
                                     has_partial ? &CallPartial : nullptr, nullptr, &NameOf);
  return made == nullptr ? PyErr_NoMemory() : PyLong_FromVoidPtr(made);
}

PyObject* ForgetParent(PyObject* /*module*/, PyObject* /*unused*/) {
  // This thread alone lives on in the child, with the operators within which it was forked.
  calls = depth;
  Py_RETURN_NONE;
}

PyObject* EndOperators(PyObject* /*module*/, PyObject* /*unused*/) {
  if (!CheckOutside()) return nullptr;
  ended = true;
  while (calls > 0) {
    Py_BEGIN_ALLOW_THREADS;
    const timespec pause = {.tv_sec = 0, .tv_nsec = 100000};
    nanosleep(&pause, nullptr);
    Py_END_ALLOW_THREADS;
  }
  Py_RETURN_NONE;
}

}  // namespace varve_python
