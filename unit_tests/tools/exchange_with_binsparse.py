#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exchange_with_binsparse.py SPOROS: what the library of the specification (PyPI: binsparse) writes, `sporos convert` reads,
and the other way round, through every format, and must be the same."""
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io
import scipy.sparse as sp
from binsparse import CustomTensor, ElementLevel, SparseLevel, load_binsparse, save_binsparse
from binsparse.conversions.numpy import to_numpy
from binsparse.conversions.scipy import from_scipy, to_scipy

sporos = sys.argv[1]
os.chdir(tempfile.mkdtemp())


def convert(source, target, *options):
    subprocess.run([sporos, "convert", source, target, *options], check=True, stdout=subprocess.DEVNULL)


def expect_same(found, expected, what):
    difference = abs(sp.csr_array(found).astype("c16") - sp.csr_array(expected).astype("c16")).sum()
    if found.shape != expected.shape or difference != 0:
        sys.exit(f"{what}: {found.shape} {expected.shape}, differs by {difference}")


random = sp.csr_array(sp.random(60, 40, density=0.1, format="csr", random_state=1))
random.data = np.round(100 * random.data) + 1
count = 0
# Each format with each type; by which name the file calls the format, and what it is written as, alternates.
for name in ("csr", "csc", "coo"):
    for type_name in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "c16", "c8", "?"):
        matrix = random.astype(type_name).asformat(name)
        alias, written = (None, False)[count % 2], ("csr", "csc", "coo")[count % 3]
        what = f"{name} {type_name} {alias}"
        save_binsparse(from_scipy(matrix), "a.bsp.h5", alias=alias)
        convert("a.bsp.h5", "b.mtx")
        expect_same(sp.csr_array(scipy.io.mmread("b.mtx")), matrix, what)
        convert("a.bsp.h5", "c.h5", "--format", written)
        back = to_scipy(load_binsparse("c.h5"))
        expect_same(back, matrix, f"{what} to {written}")
        if back.format != written:
            sys.exit(f"{what}: {back.format} instead of {written}")
        count += 1

# The formats that SciPy lacks: taken apart by the library into dense arrays.
save_binsparse(from_scipy(random), "a.h5")
for written in ("dcsr", "dcsc", "dense"):
    convert("a.h5", "d.h5", "--format", written)
    tensor = load_binsparse("d.h5")
    if written == "dense":
        expect_same(to_numpy(tensor), random, written)
    else:
        rows = np.repeat(tensor.indices_0, np.diff(tensor.pointers_to_1))
        places = (rows, tensor.indices_1) if written == "dcsr" else (tensor.indices_1, rows)
        expect_same(sp.coo_array((tensor.values, places), shape=tensor.shape), random, written)
    count += 1

# A tensor of order 3 in lists of coordinates, which is written back as it was.
cube = SparseLevel(3, ElementLevel(np.array([1.5, -2])), (np.array([0, 1]), np.array([2, 0]), np.array([1, 3])))
save_binsparse(CustomTensor((2, 3, 4), 2, level=cube), "t.h5")
convert("t.h5", "u.tns")
convert("u.tns", "u.h5")
convert("t.h5", "v.h5")
for name in ("u.h5", "v.h5"):
    found = load_binsparse(name)
    same = all((a == b).all() for a, b in zip(found.level.indices, cube.indices))
    # Of a .tns file, the largest coordinates are the extents.
    if not same or not (found.level.level.values == cube.level.values).all() or found.shape[:2] != (2, 3):
        sys.exit(f"{name}: {found}")
    count += 1
print(f"{count} tensors are the same")
