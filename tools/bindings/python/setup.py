# SPDX-License-Identifier: Apache-2.0
"""Builds the compiled part of the package; pyproject.toml has the rest."""
from setuptools import Extension, setup

setup(ext_modules=[Extension("varve._hot", ["varve/_hot.cc", "varve/_operator.cc"], depends=["varve/_operator.h"],
                             extra_compile_args=["-std=c++20", "-O2"])])
