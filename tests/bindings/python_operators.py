# SPDX-License-Identifier: Apache-2.0
"""Goal: merge operators written in Python give the values that a model says, on threads of the library as well; what they raise
is raised by the read of their key; and nothing that they do stops or ends the process. Method: operators that concatenate or
add, that raise, that wait, that use the database, and that collect garbage; compactions, closing and the end of the interpreter
beneath them."""
import gc
import sys
import threading
import time
import weakref

from python_package import path, raises, run
import varve


def append(_, value, operands):
    return (b"" if value is None else value) + b"".join(operands)


def total(_, value, operands):
    return b"%d" % (int(value or 0) + sum(int(operand) for operand in operands))


class Unraisable:
    """Collects, as a context, what is raised where no caller is."""

    def __enter__(self):
        self.errors = []
        self._hook, sys.unraisablehook = sys.unraisablehook, lambda found: self.errors.append(found.exc_value)
        return self

    def __exit__(self, *_):
        sys.unraisablehook = self._hook


# Three tables are compacted by a thread of the library.
LAYERS = "level0_file_num_compaction_trigger=3;compaction_style=kCompactionStyleUniversal"


def merged_in_layers(db, keys, operand, tables=3):
    """Merges an operand into each key in each of some tables, which a compaction must combine."""
    for _ in range(tables):
        for key in keys:
            db.merge(key, operand)
        db.flush()


def settle(db):
    """Waits until the library's threads have compacted all."""
    until = time.monotonic() + 60
    while db.property("rocksdb.num-files-at-level0") != "0":
        assert time.monotonic() < until
        time.sleep(0.01)


def test_operator_values():
    partials = []

    def partial(_, operands):
        partials.append(len(operands))
        return b"".join(operands)

    operator = varve.MergeOperator("append", append, partial)
    with varve.open(path("operator"), merge_operator=operator) as db:
        db.merge(b"k", b"a")
        db.merge(b"k", b"b")
        assert db.get(b"k") == b"ab" and list(db.iterate()) == [(b"k", b"ab")]
        db.put(b"e", b"")
        db.merge(b"e", b"")
        assert db.get(b"e") == b""
        with db.batch() as batch:
            batch.merge(b"k", b"c")
            batch.merge(b"e", bytes(300000))
        assert db.get(b"e") == bytes(300000)
        snapshot = db.snapshot()
        db.delete(b"k")
        db.merge(b"k", b"d")
        assert db.get(b"k", snapshot=snapshot) == b"abc" and db.get(b"k") == b"d"
        snapshot.close()
        assert not partials
        db.merge(b"x", b"1")
        merged_in_layers(db, [b"x", b"y"], b"1", tables=1)
        assert partials == [2]
        merged_in_layers(db, [b"x", b"y"], b"1", tables=2)
        db.compact()
        assert db.get(b"x") == b"1111" and db.get(b"y") == b"111"
        db.create_family("more")
        db.merge(b"k", b"m", family="more")
        assert db.get(b"k", family="more") == b"m"
    with varve.open(path("operator"), merge_operator=operator) as db, varve.open(path("two"), merge_operator=operator) as two:
        assert db.get(b"x") == b"1111" and db.get(b"k", family="more") == b"m"
        two.merge(b"k", b"z")
        assert two.get(b"k") == b"z"
    raises(varve.VarveError, varve.open, path("operator"), merge_operator=varve.MergeOperator("other", append))


def test_operator_types():
    """Operators return whatever has bytes; anything else is a TypeError of the read."""
    results = [bytearray(b"x"), memoryview(b"x"), b"x", "x", 7, None]
    with varve.open(path("types"), merge_operator=varve.MergeOperator("o", lambda *_: results[0])) as db:
        db.merge(b"k", b"operand")
        for _ in range(3):
            assert db.get(b"k") == b"x"
            results.pop(0)
        for _ in range(3):
            assert "must return bytes" in raises(varve.MergeError, db.get, b"k")
            results.pop(0)
    raises(TypeError, varve.MergeOperator, "o", b"no function")
    raises(TypeError, varve.MergeOperator, "o", append, b"no function")
    raises(ValueError, varve.MergeOperator, "", append)
    raises(ValueError, varve.MergeOperator, "a\0b", append)
    few = varve.MergeOperator("o", lambda: b"")
    with varve.open(path("types"), merge_operator=few) as db:
        assert "positional argument" in raises(varve.MergeError, db.get, b"k")


def test_operator_raises():
    """A read fails with what its operator raises, and no other does; a compaction keeps the operands."""
    broken = [True]

    def full(key, value, operands):
        if broken[0] and key.startswith(b"bad"):
            raise ValueError("the operator's own words")
        return append(key, value, operands)

    with varve.open(path("raises"), merge_operator=varve.MergeOperator("o", full), options=LAYERS) as db:
        merged_in_layers(db, [b"bad", b"good"], b"1", tables=2)
        assert "the operator's own words" in raises(varve.MergeError, db.get, b"bad")
        try:
            db.get(b"bad")
        except varve.VarveError as error:
            assert isinstance(error.__cause__, ValueError) and error.__cause__.__traceback__ is not None
        assert db.get(b"good") == b"11" and db.get(b"absent") is None
        assert "own words" in raises(varve.MergeError, list, db.iterate())
        assert list(db.iterate(start=b"c")) == [(b"good", b"11")]
        with Unraisable() as unraisable:
            merged_in_layers(db, [b"bad", b"good"], b"1", tables=1)
            settle(db)
        assert unraisable.errors and all(isinstance(error, ValueError) for error in unraisable.errors)
        raises(varve.MergeError, db.get, b"bad")
        # An error of another kind after it is not taken for the operator's.
        assert "own words" not in raises(varve.InvalidArgumentError, db.create_family, "default")
        merged_in_layers(db, [b"bad", b"good"], b"1", tables=1)
        assert "own words" in raises(varve.MergeError, db.compact)
        broken[0] = False
        assert list(db.iterate()) == [(b"bad", b"1111"), (b"good", b"1111")]
        merged_in_layers(db, [b"bad"], b"1", tables=1)
        db.compact()
        assert db.get(b"bad") == b"11111"


def test_operator_interrupt():
    """What is no error, such as Control-C, comes out of the read as it is."""
    def full(*_):
        raise KeyboardInterrupt("pressed")

    with varve.open(path("interrupt"), merge_operator=varve.MergeOperator("o", full)) as db:
        db.merge(b"k", b"v")
        assert raises(KeyboardInterrupt, db.get, b"k") == "pressed"


def test_partial_operator():
    """A partial operator may return None or raise: the operands stay."""
    results = [None, ZeroDivisionError()]

    def partial(_, operands):
        if isinstance(results[0], Exception):
            raise results[0]
        return results[0]

    for i in range(2):
        with varve.open(path(f"partial{i}"), merge_operator=varve.MergeOperator("o", append, partial)) as db:
            db.put(b"k", b"0")
            db.flush()
            db.compact()
            with Unraisable() as unraisable:
                merged_in_layers(db, [b"k", b"l"], b"1")
                db.merge(b"k", b"2")
                db.merge(b"k", b"3")
                db.flush()
            assert db.get(b"k") == b"011123"
            assert all(isinstance(error, ZeroDivisionError) for error in unraisable.errors)
            results.pop(0)


def test_operator_misuse():
    """An operator that uses databases gets an exception, on each kind of thread, instead of waiting for itself."""
    uses, seen, here = [], [], threading.get_ident()

    def full(key, value, operands):
        for use in uses:
            try:
                use()
            except RuntimeError as error:
                assert not isinstance(error, varve.VarveError)
                seen.append(threading.get_ident() == here)
        return append(key, value, operands)

    operator = varve.MergeOperator("o", full)
    db = varve.open(path("uses"), merge_operator=operator, transactions="pessimistic", options=LAYERS)
    snapshot, batch, entries, transaction = db.snapshot(), db.batch(), db.iterate(), db.transaction()
    backups = varve.Backups(path("uses backups"))
    uses += [lambda: db.get(b"k"), lambda: db.get(b"k", snapshot=snapshot), lambda: db.put(b"k", b"v"), db.close, db.flush,
             lambda: batch.put(b"k", b"v"), lambda: db.write(batch), entries.block, entries.close, snapshot.close, db.iterate,
             lambda: transaction.get(b"k"), transaction.commit, lambda: list(db.iterate()), db.snapshot, backups.list,
             lambda: varve.open(path("another")), lambda: varve.Backups(path("another"))]
    merged_in_layers(db, [b"k"], b"1", tables=2)
    seen.clear()
    assert db.get(b"k") == b"11" and db.get(b"k", snapshot=snapshot) is None
    assert len(seen) == len(uses) and all(seen)
    with snapshot, batch, transaction:
        transaction.merge(b"k", b"2")
        assert transaction.get(b"k") == b"112"
        snapshot.close()
        entries.close()
        seen.clear()
        merged_in_layers(db, [b"l"], b"1", tables=1)
        settle(db)
        assert len(seen) % len(uses) == 0 and seen and not any(seen), seen
    del uses[:]
    backups.close()
    db.close()


def test_operator_garbage():
    """The garbage collector may find databases and what belongs to them within an operator; they end nevertheless."""
    class Knot:
        """Garbage that only the collector finds."""

        def __init__(self, *things):
            self.things, self.me = things, self

    def full(key, value, operands):
        gc.collect()
        return append(key, value, operands)

    operator = varve.MergeOperator("o", full)
    for on_library_thread in (False, True):
        name = f"garbage{on_library_thread}"
        with varve.open(path(name), merge_operator=operator, options=LAYERS) as db:
            merged_in_layers(db, [b"k"], b"1", tables=2)
            other = varve.open(path(name + " other"), transactions="optimistic")
            other.put(b"k", b"v")
            transaction = other.transaction()
            gc.disable()
            knot = Knot(other, other.iterate(), other.snapshot(), other.batch(), transaction, transaction.iterate(),
                        db.iterate(), db.snapshot(), db.batch())
            gone = weakref.ref(knot)
            del knot, other, transaction
            if on_library_thread:
                merged_in_layers(db, [b"l"], b"1", tables=1)
                settle(db)
                assert gone() is None
            assert db.get(b"k") == b"11" and gone() is None
            gc.enable()
        until = time.monotonic() + 30
        while True:  # Another thread closes it.
            try:
                varve.open(path(name + " other")).close()
                break
            except varve.IOFailure:
                assert time.monotonic() < until
                time.sleep(0.01)


def test_operator_threads():
    """Several threads merge and read while tables are written and compacted."""
    with varve.open(path("sums"), options="write_buffer_size=64K;level0_file_num_compaction_trigger=2",
                    merge_operator=varve.MergeOperator("sum", total, lambda key, operands: total(key, None, operands))) as db:
        rounds, keys, failures = 4000, [b"%d" % i for i in range(7)], []

        def work(which):
            try:
                for i in range(rounds):
                    db.merge(keys[(i * which) % 7], b"1")
                    if i % 50 == 0:
                        assert int(db.get(keys[0]) or 0) >= 0
                    if i % 1000 == 0:
                        db.flush()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(which,)) for which in range(1, 5)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            db.compact()
            assert all(int(value) > 0 for _, value in db.iterate())
        for thread in threads:
            thread.join()
        assert not failures, failures
        assert sum(int(value) for _, value in db.iterate()) == 4 * rounds


def test_operator_close():
    """A database is closed while its operator runs on a thread of the library, which waits for Python's lock meanwhile."""
    started = threading.Event()

    def full(key, value, operands):
        started.set()
        time.sleep(0.01)
        return append(key, value, operands)

    for _ in range(3):
        started.clear()
        with varve.open(path("slow"), merge_operator=varve.MergeOperator("o", full), options=LAYERS) as db:
            merged_in_layers(db, [b"%d" % i for i in range(20)], b"1")
            assert started.wait(30)
    with varve.open(path("slow"), merge_operator=varve.MergeOperator("o", append)) as db:
        assert [value for _, value in db.iterate()] == [b"1" * 9] * 20


def test_operator_exit():
    """The interpreter ends while operators run, and are due, on its threads and on the library's. Nothing is lost."""
    script = """
import threading, time
def full(key, value, operands):
    time.sleep(0.002)
    return (value or b"") + b"".join(operands)
db = varve.open(path("end"), merge_operator=varve.MergeOperator("o", full), options="level0_file_num_compaction_trigger=2")
for i in range(6):
    for key in range(100):
        db.merge(b"%d" % key, b"1")
    db.flush()
threading.excepthook = lambda arguments: None
def read():
    while True:
        list(db.iterate())
for target in (db.compact, read, read):
    threading.Thread(target=target, daemon=True).start()
time.sleep(0.05)
"""
    for i in range(3):
        run(script + ("sys.exit(0)" if i else ""))
        with varve.open(path("end"), merge_operator=varve.MergeOperator("o", append)) as db:
            entries = list(db.iterate())
            assert len(entries) == 100 and all(value == b"1" * 6 * (i + 1) for _, value in entries), (i, entries[:3])
