#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""write.py: writes the .h5 files of this folder with the specification's own Python library (PyPI: binsparse 0.1.4, h5py).

All of two modes hold the 4 x 6 matrix with 1.5 at (0, 1), -2 at (1, 0), 3 at (2, 5) and 4 at (3, 4), unless said below.
"""
import json

import h5py
import numpy as np
import scipy.sparse as sp
from binsparse import (COOCMatrix, CSRMatrix, CustomTensor, CVECVector, DCSCMatrix, DCSRMatrix, DMATCMatrix, DMATRMatrix,
                       DVECVector, ElementLevel, SparseLevel, save_binsparse)
from binsparse.conversions.scipy import from_scipy

dense = np.zeros((4, 6))
dense[[0, 1, 2, 3], [1, 0, 5, 4]] = [1.5, -2, 3, 4]
shape, count = dense.shape, 4
for name in ("csr", "csc", "coo"):
    save_binsparse(from_scipy(sp.coo_array(dense).asformat(name)), f"{name}.h5")
save_binsparse(from_scipy(sp.csr_array(dense)), "csr_custom.h5", alias=False)
# Attributes of the user stand beside the namespace of the specification.
with h5py.File("csr_custom.h5", "r+") as file:
    file.attrs["binsparse"] = json.dumps(json.loads(file.attrs["binsparse"]) | {"author": "Ω \"quoted\"", "year": 2026})
save_binsparse(from_scipy(sp.csr_array(dense.astype("f4"))), "float32.h5")
save_binsparse(from_scipy(sp.csr_array(dense * (1 + 2j))), "complex.h5")
# Places 0 and 5 of the matrix are true.
save_binsparse(from_scipy(sp.csr_array(np.eye(2, dtype=bool))), "bint8.h5")
save_binsparse(CSRMatrix((4, 6), 4, pointers_to_1=np.arange(5, dtype="u2"), indices_1=np.array([1, 0, 5, 4], "u1"),
                         values=np.broadcast_to(np.float64(7), (4,))), "iso.h5")
save_binsparse(COOCMatrix(shape, count, indices_0=np.array([0, 1, 4, 5]), indices_1=np.array([1, 0, 3, 2]),
                          values=np.array([-2, 1.5, 4, 3])), "cooc.h5")
save_binsparse(DCSRMatrix(shape, count, indices_0=np.arange(4), pointers_to_1=np.arange(5), indices_1=np.array([1, 0, 5, 4]),
                          values=np.array([1.5, -2, 3, 4])), "dcsr.h5")
save_binsparse(DCSCMatrix(shape, count, indices_0=np.array([0, 1, 4, 5]), pointers_to_1=np.arange(5),
                          indices_1=np.array([1, 0, 3, 2]), values=np.array([-2, 1.5, 4, 3])), "dcsc.h5")
save_binsparse(DMATRMatrix(shape, 24, values=dense.ravel()), "dmatr.h5")
save_binsparse(DMATCMatrix(shape, 24, values=dense.ravel(order="F")), "dmatc.h5")
save_binsparse(DVECVector((3,), 3, values=np.array([0.0, 5.0, 6.0])), "dvec.h5")
save_binsparse(CVECVector((9,), 2, fill=True, fill_value=np.float64(0), indices_0=np.array([2, 7]),
                          values=np.array([5.0, 6.0])), "cvec.h5")
# 1.5 at (0, 2, 1) and -2 at (1, 0, 3) of 2 x 3 x 4, stored by modes 2, 0, 1.
cube = SparseLevel(1, SparseLevel(2, ElementLevel(np.array([1.5, -2])), (np.array([0, 1]), np.array([2, 0])), np.arange(3)),
                   (np.array([1, 3]),))
save_binsparse(CustomTensor((2, 3, 4), 2, level=cube, transpose=(2, 0, 1)), "cube.h5")
# As h5py users write: compressed chunks, booleans of its own type, big-endian numbers, in a group.
with h5py.File("group.h5", "w") as file:
    group = file.create_group("a/b")
    group.attrs["binsparse"] = np.bytes_('{"format": "COO", "version": "0.1", "shape": [2, 2], "number_of_stored_values": 2, '
                                         '"data_types": {"indices_0": "int32", "indices_1": "int64", "values": "bint8"}}')
    group.create_dataset("indices_0", data=np.array([0, 1], ">i4"), compression="gzip", shuffle=True)
    group.create_dataset("indices_1", data=np.array([1, 1], ">i8"))
    group.create_dataset("values", data=np.array([True, False]))
