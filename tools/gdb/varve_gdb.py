# SPDX-License-Identifier: Apache-2.0
"""Shows values of Varve in gdb as a reader thinks of them: `source varve_gdb.py`, then `print slice`.

Slices are their bytes, a Status its words and message, a Version the number and bytes of the tables of each level. Works on
cores, as nothing of the process is called. The program must have been compiled with debug information of types (-g)."""
import gdb

_LIMIT = 200  # Bytes of a slice that are shown.


def _shown(pointer, size):
    """Returns bytes of the process as a text in quotes, \\xNN for those that are not printable."""
    data = bytes(gdb.selected_inferior().read_memory(pointer, min(size, _LIMIT))) if size else b""
    text = "".join(chr(byte) if 32 <= byte < 127 and byte not in (34, 92) else "\\x%02x" % byte for byte in data)
    return '"%s"%s' % (text, "" if size <= _LIMIT else "... (%d bytes)" % size)


def _vector(value):
    """Returns the begin and the number of elements of a std::vector."""
    begin, end = (value["_M_impl"][name] for name in ("_M_start", "_M_finish"))
    return begin, int(end - begin)


class SlicePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        size = int(self.value["size_"])
        pointer = int(self.value["data_"])
        if size > 0 and pointer == 0:
            return "a slice without memory of %d bytes" % size
        try:
            return _shown(pointer, size)
        except gdb.MemoryError:
            return "a slice of %d bytes at 0x%x, which cannot be read" % (size, pointer)


class StatusPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        cause = self.value["cause_"]
        code = _word(cause["code"])
        if code == "Ok":
            return "OK"
        text = code
        if int(cause["subcode"]) != 0:
            text += " (" + _word(cause["subcode"]) + ")"
        message = self._message()
        return text + (": " + message if message else "")

    def _message(self):
        pointer = _pointer_of(self.value["state_"])
        return pointer.string("utf-8", "replace") if pointer is not None and int(pointer) else ""


def _pointer_of(value):
    """Returns the pointer within a std::unique_ptr, which lies beside its deleter in members and bases."""
    for field in value.type.strip_typedefs().fields():
        if not field.is_base_class and field.name not in ("_M_t", "_M_head_impl"):
            continue
        member = value[field]
        kind = member.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_PTR:
            return member
        found = _pointer_of(member) if kind.code == gdb.TYPE_CODE_STRUCT else None
        if found is not None:
            return found
    return None


def _word(value):
    """Returns an enumerator such as varve::Status::kNotFound as "NotFound"."""
    name = str(value).rsplit("::", 1)[-1]
    return name[1:] if name.startswith("k") else name


class VersionPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        begin, count = _vector(self.value["levels_"])
        levels = []
        for level in range(count):
            files = begin[level]
            tables = _vector(files["files_"])[1]
            if tables:
                levels.append("L%d: %d tables, %d bytes" % (level, tables, int(files["bytes_"])))
        return "version %d of %d levels: %s" % (int(self.value["version_number_"]), count,
                                                "; ".join(levels) or "no tables")


_PRINTERS = {"varve::Slice": SlicePrinter, "varve::PinnableSlice": SlicePrinter, "varve::Status": StatusPrinter,
             "varve::IOStatus": StatusPrinter, "varve::Version": VersionPrinter}


def _find(value):
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_REF:
        kind = kind.target().strip_typedefs()
    printer = _PRINTERS.get(kind.unqualified().name)
    return printer(value) if printer else None


_find.__name__ = "varve"
gdb.pretty_printers.append(_find)
