// SPDX-License-Identifier: Apache-2.0

// The calls that Python programs make often, without the detour over ctypes: get, put, delete, and
// blocks of an iterator. Handles of the library come from the Python side as numbers.
//
// A Gate counts the calls that use a database, so that it is closed only when none does. Its
// members change under Python's lock, which is released while the library works.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <ctime>
#include <new>
#include <string>
#include <vector>

#include "_operator.h"

using varve_python::CheckOutside;
using varve_python::DropFailure;

namespace {

// The functions of the C API that are called from here.
struct Library {
  unsigned char (*get_into_buffer_cf)(void*, const void*, void*, const char*, size_t, char*, size_t,
                                      size_t*, unsigned char*, char**);
  void (*put_cf)(void*, const void*, void*, const char*, size_t, const char*, size_t, char**);
  void (*delete_cf)(void*, const void*, void*, const char*, size_t, char**);
  decltype(put_cf) transactiondb_put_cf;
  decltype(delete_cf) transactiondb_delete_cf;
  unsigned char (*iter_valid)(const void*);
  const char* (*iter_key)(const void*, size_t*);
  const char* (*iter_value)(const void*, size_t*);
  void (*iter_seek_to_first)(void*);
  void (*iter_seek_to_last)(void*);
  void (*iter_next)(void*);
  void (*iter_prev)(void*);
  void (*iter_get_error)(const void*, char**);
  void (*free)(void*);
};

Library lib;
PyObject* raise_status = nullptr;  // Raises the exception of an error's text.
PyObject* closed_error = nullptr;

// The gate of one database, whose handles it does not own.
struct Gate {
  PyObject_HEAD   // NOLINT
      void* db;   // Null before open() and after close().
  void* locking;  // What takes the writes, if they take locks; null otherwise.
  long calls;     // That are inside.
  bool closing;   // Stays true: a gate is not opened again.
};

// Raises what the library has reported, and frees it. What a merge operator has raised meanwhile is
// its cause.
PyObject* Raise(char* error) {
  PyObject* const text =
      PyUnicode_DecodeUTF8(error, static_cast<Py_ssize_t>(strlen(error)), "replace");
  lib.free(error);
  if (text == nullptr) return nullptr;
  PyObject* const cause = varve_python::TakeFailure();
  PyObject* const result =
      PyObject_CallFunctionObjArgs(raise_status, text, cause == nullptr ? Py_None : cause, nullptr);
  Py_XDECREF(result);
  Py_XDECREF(cause);
  Py_DECREF(text);
  return nullptr;
}

// Counts a call in. Returns false, with an exception, if the database is closed or a merge operator
// runs on this thread; the call must not Leave() then.
bool Enter(Gate* gate) {
  if (!CheckOutside()) return false;
  DropFailure();
  if (gate->db == nullptr || gate->closing) {
    PyErr_SetString(closed_error, "the database is closed");
    return false;
  }
  gate->calls++;
  return true;
}

void Leave(Gate* gate) {
  gate->calls--;
}

void* WriterOf(const Gate* gate) {
  return gate->locking == nullptr ? gate->db : gate->locking;
}

// The bytes of an argument, held until the end of the scope.
class Bytes {
 public:
  ~Bytes() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }
  // Takes bytes, bytearray and memoryview; text must be encoded by its owner.
  bool Take(PyObject* object) {
    if (PyBytes_CheckExact(object)) {
      data_ = PyBytes_AS_STRING(object);
      size_ = static_cast<size_t>(PyBytes_GET_SIZE(object));
      return true;
    }
    if (PyObject_CheckBuffer(object) == 0) {
      PyErr_Format(PyExc_TypeError, "bytes are needed, not %s", Py_TYPE(object)->tp_name);
      return false;
    }
    if (PyObject_GetBuffer(object, &view_, PyBUF_SIMPLE) != 0) {
      view_.obj = nullptr;
      return false;
    }
    data_ = static_cast<const char*>(view_.buf);
    size_ = static_cast<size_t>(view_.len);
    return true;
  }
  const char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  Py_buffer view_{};
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// Returns a handle that Python holds as a number; null, with an exception, if it is none.
void* Pointer(PyObject* number) {
  return PyLong_AsVoidPtr(number);
}

bool CheckCount(const char* call, Py_ssize_t count, Py_ssize_t wanted) {
  if (count == wanted) return true;
  PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", call, wanted, count);
  return false;
}

// get(key, family, options): the value, or None.
PyObject* Get(Gate* gate, PyObject* const* args, Py_ssize_t count) {
  Bytes key;
  if (!CheckCount("get", count, 3) || !key.Take(args[0])) return nullptr;
  void* const family = Pointer(args[1]);
  const void* const options = Pointer(args[2]);
  if (PyErr_Occurred() != nullptr || !Enter(gate)) return nullptr;
  char first[4096];
  std::vector<char> large;
  char* buffer = first;
  size_t capacity = sizeof(first);
  size_t size = 0;
  unsigned char found = 0;
  unsigned char done = 0;
  bool no_memory = false;
  char* error = nullptr;
  Py_BEGIN_ALLOW_THREADS;
  for (;;) {
    done = lib.get_into_buffer_cf(gate->db, options, family, key.data(), key.size(), buffer,
                                  capacity, &size, &found, &error);
    if (done != 0 || error != nullptr || found == 0) break;
    // The value is larger than the buffer, and may grow in the meantime.
    try {
      large.resize(size > 2 * capacity ? size : 2 * capacity);
    } catch (const std::bad_alloc&) {
      no_memory = true;
      break;
    }
    buffer = large.data();
    capacity = large.size();
  }
  Py_END_ALLOW_THREADS;
  Leave(gate);
  if (no_memory) return PyErr_NoMemory();
  if (error != nullptr) return Raise(error);
  if (done == 0) Py_RETURN_NONE;
  return PyBytes_FromStringAndSize(buffer, static_cast<Py_ssize_t>(size));
}

// put(key, value, family, options)
PyObject* Put(Gate* gate, PyObject* const* args, Py_ssize_t count) {
  Bytes key;
  Bytes value;
  if (!CheckCount("put", count, 4) || !key.Take(args[0]) || !value.Take(args[1])) return nullptr;
  void* const family = Pointer(args[2]);
  const void* const options = Pointer(args[3]);
  if (PyErr_Occurred() != nullptr || !Enter(gate)) return nullptr;
  char* error = nullptr;
  const auto put_cf = gate->locking == nullptr ? lib.put_cf : lib.transactiondb_put_cf;
  Py_BEGIN_ALLOW_THREADS;
  put_cf(WriterOf(gate), options, family, key.data(), key.size(), value.data(), value.size(),
         &error);
  Py_END_ALLOW_THREADS;
  Leave(gate);
  if (error != nullptr) return Raise(error);
  Py_RETURN_NONE;
}

// delete(key, family, options)
PyObject* Delete(Gate* gate, PyObject* const* args, Py_ssize_t count) {
  Bytes key;
  if (!CheckCount("delete", count, 3) || !key.Take(args[0])) return nullptr;
  void* const family = Pointer(args[1]);
  const void* const options = Pointer(args[2]);
  if (PyErr_Occurred() != nullptr || !Enter(gate)) return nullptr;
  char* error = nullptr;
  const auto delete_cf = gate->locking == nullptr ? lib.delete_cf : lib.transactiondb_delete_cf;
  Py_BEGIN_ALLOW_THREADS;
  delete_cf(WriterOf(gate), options, family, key.data(), key.size(), &error);
  Py_END_ALLOW_THREADS;
  Leave(gate);
  if (error != nullptr) return Raise(error);
  Py_RETURN_NONE;
}

// The entries of a block, one after another in one buffer.
struct Block {
  std::string bytes;
  std::vector<size_t> ends;  // Of key and value in turn.
  bool at_end = false;
  bool no_memory = false;
};

// Says how much of which iterator is fetched.
struct Walk {
  void* iterator;
  bool reverse;
  bool begin;      // Goes to the first entry, or the last one in reverse, before.
  size_t entries;  // At most.
  size_t bytes;    // The entry that reaches this size is the last one.
};

// Runs without Python's lock. Leaves the iterator at the entry that follows the block.
void Fill(Block* block, const Walk& walk) try {
  void* const iterator = walk.iterator;
  if (walk.begin) {
    walk.reverse ? lib.iter_seek_to_last(iterator) : lib.iter_seek_to_first(iterator);
  }
  while (block->ends.size() < 2 * walk.entries && block->bytes.size() < walk.bytes) {
    if (lib.iter_valid(iterator) == 0) {
      block->at_end = true;
      return;
    }
    size_t size = 0;
    const char* const key = lib.iter_key(iterator, &size);
    block->bytes.append(key, size);
    block->ends.push_back(block->bytes.size());
    const char* const value = lib.iter_value(iterator, &size);
    block->bytes.append(value, size);
    block->ends.push_back(block->bytes.size());
    walk.reverse ? lib.iter_prev(iterator) : lib.iter_next(iterator);
  }
  block->at_end = lib.iter_valid(iterator) == 0;
} catch (const std::bad_alloc&) {
  block->no_memory = true;
}

// Returns key and value of the entry as a new tuple; null with an exception.
PyObject* PairAt(const Block& block, size_t i) {
  const size_t begin = i == 0 ? 0 : block.ends[2 * i - 1];
  const size_t middle = block.ends[2 * i];
  const char* const data = block.bytes.data();
  PyObject* const key =
      PyBytes_FromStringAndSize(data + begin, static_cast<Py_ssize_t>(middle - begin));
  PyObject* const value = PyBytes_FromStringAndSize(
      data + middle, static_cast<Py_ssize_t>(block.ends[2 * i + 1] - middle));
  PyObject* const pair = key == nullptr || value == nullptr ? nullptr : PyTuple_New(2);
  if (pair == nullptr) {
    Py_XDECREF(key);
    Py_XDECREF(value);
    return nullptr;
  }
  PyTuple_SET_ITEM(pair, 0, key);
  PyTuple_SET_ITEM(pair, 1, value);
  return pair;
}

// fetch(iterator, reverse, begin, entries, bytes): a list of pairs, and True if the iterator has
// ended. The caller lets one thread at a time use the iterator.
PyObject* Fetch(Gate* gate, PyObject* const* args, Py_ssize_t count) {
  if (!CheckCount("fetch", count, 5)) return nullptr;
  const Walk walk = {.iterator = Pointer(args[0]),
                     .reverse = args[1] == Py_True,
                     .begin = args[2] == Py_True,
                     .entries = PyLong_AsSize_t(args[3]),
                     .bytes = PyLong_AsSize_t(args[4])};
  if (PyErr_Occurred() != nullptr || !Enter(gate)) return nullptr;
  Block block;
  char* error = nullptr;
  Py_BEGIN_ALLOW_THREADS;
  Fill(&block, walk);
  if (block.at_end) lib.iter_get_error(walk.iterator, &error);
  Py_END_ALLOW_THREADS;
  Leave(gate);
  if (block.no_memory) return PyErr_NoMemory();
  if (error != nullptr) return Raise(error);
  const size_t n = block.ends.size() / 2;
  PyObject* const list = PyList_New(static_cast<Py_ssize_t>(n));
  for (size_t i = 0; list != nullptr && i < n; i++) {
    PyObject* const pair = PairAt(block, i);
    if (pair == nullptr) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), pair);
  }
  return list == nullptr ? nullptr : Py_BuildValue("(NO)", list, block.at_end ? Py_True : Py_False);
}

// The gate is a context: it counts a call in, gives it the database's handle, and counts it out.
PyObject* EnterMethod(Gate* gate, PyObject* /*unused*/) {
  return Enter(gate) ? PyLong_FromVoidPtr(gate->db) : nullptr;
}

PyObject* LeaveMethod(Gate* gate, PyObject* const* /*args*/, Py_ssize_t /*count*/) {
  Leave(gate);
  Py_RETURN_NONE;
}

// open(db, locking): lets calls in. `locking` is a handle for writes that take locks, or 0.
PyObject* Open(Gate* gate, PyObject* const* args, Py_ssize_t count) {
  if (!CheckCount("open", count, 2)) return nullptr;
  void* const db = Pointer(args[0]);
  void* const locking = Pointer(args[1]);
  if (PyErr_Occurred() != nullptr) return nullptr;
  gate->db = db;
  gate->locking = locking;
  Py_RETURN_NONE;
}

// abandon(): lets no call in any more, in a child process, which has no thread that could leave.
PyObject* Abandon(Gate* gate, PyObject* /*unused*/) {
  gate->closing = true;
  gate->db = nullptr;
  Py_RETURN_NONE;
}

// close(): lets no call in any more, waits until those inside have left, and returns the handle; 0
// if that was done before, or there is none.
PyObject* Close(Gate* gate, PyObject* /*unused*/) {
  if (!CheckOutside()) return nullptr;
  if (gate->closing) return PyLong_FromLong(0);
  gate->closing = true;
  while (gate->calls > 0) {
    Py_BEGIN_ALLOW_THREADS;
    const timespec pause = {.tv_sec = 0, .tv_nsec = 100000};
    nanosleep(&pause, nullptr);
    Py_END_ALLOW_THREADS;
  }
  PyObject* const handle = PyLong_FromVoidPtr(gate->db);
  gate->db = nullptr;
  return handle;
}

template <typename Function>
PyCFunction Method(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

PyMethodDef gate_methods[] = {
    {"open", Method(&Open), METH_FASTCALL, nullptr},
    {"close", Method(&Close), METH_NOARGS, nullptr},
    {"abandon", Method(&Abandon), METH_NOARGS, nullptr},
    {"__enter__", Method(&EnterMethod), METH_NOARGS, nullptr},
    {"__exit__", Method(&LeaveMethod), METH_FASTCALL, nullptr},
    {"get", Method(&Get), METH_FASTCALL, nullptr},
    {"put", Method(&Put), METH_FASTCALL, nullptr},
    {"delete", Method(&Delete), METH_FASTCALL, nullptr},
    {"fetch", Method(&Fetch), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot gate_slots[] = {{Py_tp_methods, gate_methods}, {0, nullptr}};

PyType_Spec gate_spec = {.name = "varve._hot.Gate",
                         .basicsize = sizeof(Gate),
                         .itemsize = 0,
                         .flags = Py_TPFLAGS_DEFAULT,
                         .slots = gate_slots};

// Looks one function up. Returns false with an exception if the library has none of that name.
template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function != nullptr) return true;
  PyErr_Format(PyExc_ImportError, "the library has no function %s", name);
  return false;
}

// load(path, raise_status, closed_error): binds the library, before anything else is used.
PyObject* Load(PyObject* /*module*/, PyObject* args) {
  const char* path = nullptr;
  PyObject* raise = nullptr;
  PyObject* closed = nullptr;
  if (PyArg_ParseTuple(args, "sOO", &path, &raise, &closed) == 0) return nullptr;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return PyErr_Format(PyExc_ImportError, "%s", dlerror());
  varve_python::CreateOperator create_operator = nullptr;
  const bool found =
      Find(library, "rocksdb_get_into_buffer_cf", &lib.get_into_buffer_cf) &&
      Find(library, "rocksdb_put_cf", &lib.put_cf) &&
      Find(library, "rocksdb_delete_cf", &lib.delete_cf) &&
      Find(library, "rocksdb_transactiondb_put_cf", &lib.transactiondb_put_cf) &&
      Find(library, "rocksdb_transactiondb_delete_cf", &lib.transactiondb_delete_cf) &&
      Find(library, "rocksdb_iter_valid", &lib.iter_valid) &&
      Find(library, "rocksdb_iter_key", &lib.iter_key) &&
      Find(library, "rocksdb_iter_value", &lib.iter_value) &&
      Find(library, "rocksdb_iter_seek_to_first", &lib.iter_seek_to_first) &&
      Find(library, "rocksdb_iter_seek_to_last", &lib.iter_seek_to_last) &&
      Find(library, "rocksdb_iter_next", &lib.iter_next) &&
      Find(library, "rocksdb_iter_prev", &lib.iter_prev) &&
      Find(library, "rocksdb_iter_get_error", &lib.iter_get_error) &&
      Find(library, "rocksdb_free", &lib.free) &&
      Find(library, "rocksdb_mergeoperator_create", &create_operator);
  if (!found) return nullptr;
  varve_python::BindOperators(create_operator);
  raise_status = Py_NewRef(raise);
  closed_error = Py_NewRef(closed);
  Py_RETURN_NONE;
}

// take_failure(): what a merge operator has raised in the last call of this thread, or None.
PyObject* TakeFailure(PyObject* /*module*/, PyObject* /*unused*/) {
  PyObject* const failure = varve_python::TakeFailure();
  return failure == nullptr ? Py_NewRef(Py_None) : failure;
}

// in_operator(): True if a merge operator runs on this thread. check_outside(): raises then.
PyObject* InOperator(PyObject* /*module*/, PyObject* /*unused*/) {
  return PyBool_FromLong(varve_python::InOperator() ? 1 : 0);
}

PyObject* CheckOutsideMethod(PyObject* /*module*/, PyObject* /*unused*/) {
  return CheckOutside() ? Py_NewRef(Py_None) : nullptr;
}

PyMethodDef module_methods[] = {
    {"load", Load, METH_VARARGS, nullptr},
    {"merge_operator", varve_python::MakeOperator, METH_VARARGS, nullptr},
    {"end_operators", varve_python::EndOperators, METH_NOARGS, nullptr},
    {"in_child", varve_python::ForgetParent, METH_NOARGS, nullptr},
    {"take_failure", TakeFailure, METH_NOARGS, nullptr},
    {"in_operator", InOperator, METH_NOARGS, nullptr},
    {"check_outside", CheckOutsideMethod, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {.m_base = PyModuleDef_HEAD_INIT,
                      .m_name = "_hot",
                      .m_doc = nullptr,
                      .m_size = -1,
                      .m_methods = module_methods,
                      .m_slots = nullptr,
                      .m_traverse = nullptr,
                      .m_clear = nullptr,
                      .m_free = nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__hot() {
  PyObject* const made = PyModule_Create(&module);
  if (made == nullptr) return nullptr;
  PyObject* const gate = PyType_FromSpec(&gate_spec);
  if (gate != nullptr && PyModule_AddObject(made, "Gate", gate) == 0) return made;
  Py_XDECREF(gate);
  Py_DECREF(made);
  return nullptr;
}
