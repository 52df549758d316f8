#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exchange_with_scipy.py SPOROS: matrices go from SciPy and NumPy through `sporos convert` and back, and must be the same."""
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io
import scipy.sparse as sp

sporos = sys.argv[1]
os.chdir(tempfile.mkdtemp())


def convert(source, target, *options):
    subprocess.run([sporos, "convert", source, target, *options], check=True, stdout=subprocess.DEVNULL)


def expect_same(found, expected, what):
    difference = abs(sp.csr_array(found) - sp.csr_array(expected)).sum()
    if found.shape != expected.shape or difference != 0:
        sys.exit(f"{what}: {found.shape} {expected.shape}, differs by {difference}")


random = sp.random(60, 40, density=0.1, format="csr", random_state=1)
random.data = np.round(100 * random.data) + 1
count = 0
# Each format with each type; whether compressed, and whether an array or a matrix, alternates.
for name in ("csr", "csc", "coo", "bsr", "dia"):
    for type_name in ("f8", "f4", "i8", "i4", "u1", "c16", "?"):
        compressed, kind = count % 4 < 2, (sp.csr_array, sp.csr_matrix)[count // 4 % 2]
        matrix = kind(random).astype(type_name).asformat(name)
        sp.save_npz("a.npz", matrix, compressed=compressed)
        what = f"{name} {type_name} {compressed} {kind.__name__}"
        convert("a.npz", "b.npz")
        expect_same(sp.load_npz("b.npz").astype("c16"), matrix.astype("c16"), what)
        convert("a.npz", "c.mtx")
        expect_same(sp.csr_array(scipy.io.mmread("c.mtx")).astype("c16"), matrix.astype("c16"), what)
        count += 2

# Every format of .npz files, as the tool writes it, in blocks of several sizes.
for type_name in ("f8", "i8", "c16"):
    matrix = sp.csr_matrix(random).astype(type_name)
    sp.save_npz("a.npz", matrix)
    for option, name, block in (
        ("csr", "csr", None), ("csc", "csc", None), ("coo", "coo", None), ("dcsr", "csr", None), ("dcsc", "csc", None),
        ("bsr", "bsr", (2, 2)), ("bcsr4x4", "bsr", (4, 4)),
    ):
        convert("a.npz", "g.npz", "--format", option)
        found = sp.load_npz("g.npz")
        if found.format != name or (block and found.blocksize != block):
            sys.exit(f"--format {option}: SciPy reads {found.format}")
        expect_same(found, matrix, f"written as {option}")
        count += 1

dense = random.toarray()
for array in (dense, np.asfortranarray(dense), dense.astype(">f4"), dense.astype(">i2"), dense.astype("f2"), dense != 0):
    np.save("d.npy", array)
    convert("d.npy", "e.npy")
    convert("d.npy", "f.npz")
    if not (np.load("e.npy") == array).all():
        sys.exit(f"npy {array.dtype}")
    expect_same(sp.load_npz("f.npz").astype("f8"), sp.csr_array(array.astype("f8")), f"npz of npy {array.dtype}")
    count += 2
print(f"{count} matrices are the same")
