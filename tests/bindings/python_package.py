# SPDX-License-Identifier: Apache-2.0
"""Installs the Python package for its tests, by pip where it can build, and otherwise by the compiler. Importing this sets the
search path; the library is the first argument of the program."""
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile

os.environ["VARVE_LIBRARY"] = os.path.abspath(sys.argv[1])
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    print("python_test: left out, as Python.h is missing; install python3-dev")
    sys.exit(77)
SCRATCH = tempfile.mkdtemp()


def install():
    """Makes the package in the scratch folder, and returns the folder for sys.path."""
    package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bindings", "python")
    source, target = os.path.join(SCRATCH, "source"), os.path.join(SCRATCH, "installed")
    shutil.copytree(package, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps",
           "--no-build-isolation", "--target", target, source]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return target
    print("without pip:", done.stderr.strip().splitlines()[-1:], flush=True)
    folder = os.path.join(source, "varve")
    sources = [os.path.join(folder, name) for name in ("_hot.cc", "_operator.cc")]
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-shared", "-fPIC",
                    "-I" + sysconfig.get_path("include"), *sources, "-o",
                    os.path.join(folder, "_hot" + sysconfig.get_config_var("EXT_SUFFIX"))], check=True)
    return source


PACKAGE = install()
sys.path.insert(0, PACKAGE)
sys.dont_write_bytecode = True


def path(name):
    return os.path.join(SCRATCH, name)


def raises(kind, function, *arguments, **more):
    """Calls a function, which must raise an exception of this kind, and returns its text."""
    try:
        function(*arguments, **more)
    except kind as error:
        return str(error)
    raise AssertionError(f"{function} raises no {kind.__name__}")


def run(script, seconds=60):
    """Runs a script in a process of its own, which must end well and silently. The script has this module's path()."""
    head = f"""import os, sys
sys.path.insert(0, {PACKAGE!r})
import varve
def path(name): return os.path.join({SCRATCH!r}, name)
"""
    command = [sys.executable, "-c", head + script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stdout, done.stderr)
    return done.stdout
