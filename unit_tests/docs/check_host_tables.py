#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_host_tables.py SOURCE_DIR: the tables of docs/performance.md below a command are those that it prints, and
scripts/host-tables takes means, minima, peers, compilers and threads from records as it says."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1])


def printed(command, folder):
    return subprocess.run(["bash", "-c", command], cwd=folder, check=True, capture_output=True, text=True).stdout


def expect(text, output, where):
    if text not in output:
        sys.exit(f"{where}: the command does not print\n\n{text}\nbut\n{output}")


document = (source / "docs/performance.md").read_text()
commented = re.findall(r"^<!-- (scripts/host-tables .*) -->\n((?:(?:\|.*)?\n)+)", document, re.M)
for command, below in commented:
    output = printed(command, source)
    for table in re.findall(r"(?:^\|.*\n)+", below, re.M):
        expect(table, output, f"docs/performance.md, {command}")
if not commented:
    sys.exit("docs/performance.md has no table below a command")


def write(folder, file, threads, compiler, seconds):
    """seconds: {case: {contender: seconds}}"""
    context = {"subject": "spmv", "date": "2026-01-02T03:04:05Z", "machine": "processor", "cores": 4}
    context |= {"threads": threads, "compiler": compiler, "vectors": "AVX2"}
    records = [
        {"case": case, "contender": contender, "memory": "retained", "threads": threads, "median_seconds": time}
        for case, times in seconds.items()
        for contender, time in times.items()
    ]
    (folder / file).write_text(json.dumps({"context": context, "benchmarks": records}))


OUTPUT = """
## processor, 4 cores, AVX2, 1 thread, 2026-01-02

|  | compared with | inputs | g++ 12.2.0 | nvcc 13.0 | time, nvcc / g++ |
|---|---|---|---|---|---|
| SpMV | best of Eigen, GraphBLAS (1); Eigen (nvcc 13.0) | 3; 2 (nvcc 13.0) | 1.26 (0.50) | 4.00 (2.00) | 1.41 |

| slower than a peer | input | g++ 12.2.0 | nvcc 13.0 |
|---|---|---|---|
| SpMV | second | 0.50 (GraphBLAS) | 2.00 |

| the nest's time over ours | g++ 12.2.0 | nvcc 13.0 |
|---|---|---|
| SpMV | 1.73 (0.75) |  |

| slower than the nest | input | g++ 12.2.0 | nvcc 13.0 |
|---|---|---|---|
| SpMV | third | 0.75 |  |

| share of the triad's speed | input | g++ 12.2.0 | nvcc 13.0 |
|---|---|---|---|
| SpMV | first | 0.90 |  |
"""
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    first = {"sporos": 1, "nest": 4, "eigen": 4, "triad": 0.9, "form scalar": 0.1}
    second = {"sporos": 1, "eigen": 2, "graphblas": 0.5}
    third = {"sporos": 1, "nest": 0.75, "eigen": 1}
    write(folder, "spmv_gcc.json", 1, "g++ 12.2.0", {"first": first, "second": second, "third": third})
    by_nvcc = {"first": {"sporos": 1, "eigen": 8}, "second": {"sporos": 2, "eigen": 4}}
    write(folder, "spmv_nvcc.json", 1, "nvcc 13.0 and g++ 12.2.0", by_nvcc)
    expect(
        OUTPUT, printed(f"{source.resolve()}/scripts/host-tables *.json", folder), "spmv_gcc.json and spmv_nvcc.json"
    )
print(f"the tables below {len(commented)} commands, and those of made-up records, are as printed")
