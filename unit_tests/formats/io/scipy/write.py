#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files of this folder: cd unit_tests/formats/io/scipy && python3 write.py  (SciPy 1.17.1, NumPy 2.4.6)

All hold the 4 x 6 matrix with 1.5 at (0, 1), -2 at (1, 0), 3 at (2, 5) and 4 at (3, 4), and cube.npz a tensor.
"""
import numpy as np
import scipy.sparse as sp

dense = np.zeros((4, 6))
for place, value in {(0, 1): 1.5, (1, 0): -2, (2, 5): 3, (3, 4): 4}.items():
    dense[place] = value

for name in ("csr", "csc", "coo", "dia"):
    sp.save_npz(f"{name}.npz", sp.coo_matrix(dense).asformat(name))
    sp.save_npz(f"{name}_stored.npz", sp.coo_array(dense).asformat(name), compressed=False)
sp.save_npz("bsr.npz", sp.csr_matrix(dense).tobsr((2, 3)))
sp.save_npz("bsr_stored.npz", sp.csr_array(dense).tobsr((2, 3)), compressed=False)
sp.save_npz("float32.npz", sp.csr_matrix(dense, dtype=np.float32))
sp.save_npz("complex.npz", sp.csr_matrix(dense * (1 + 2j)))
sp.save_npz("cube.npz", sp.coo_array(([1.5, -2], ([0, 1], [2, 0], [1, 3])), shape=(2, 3, 4)))

np.save("c_order.npy", dense)
np.save("fortran_order.npy", np.asfortranarray(dense))
np.save("big_endian.npy", dense.astype(">f8"))
np.save("float16.npy", dense.astype("f2"))
np.save("big_endian_int16.npy", np.trunc(dense * 2).astype(">i2"))
np.save("bool.npy", dense != 0)
np.save("complex.npy", dense * (1 + 2j))
np.save("vector.npy", dense[1])
for version in (2, 3):
    with open(f"version_{version}.npy", "wb") as file:
        np.lib.format.write_array(file, dense, version=(version, 0))
