#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_host_tables.py SOURCE_DIR: the tables of docs/performance.md below a command are those that it prints, and
scripts/host-tables takes means, minima, peers, compilers and threads from records as it says, and scripts/turns keeps the
least times of programs that take turns."""

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

# A program that says its calls took 4, 3, 2 ... milliseconds at least, and a second for the second input.
PROGRAM = """#!/usr/bin/env python3
import json, pathlib, sys
options = dict(zip(sys.argv[1:9:2], sys.argv[2:9:2]))
calls = pathlib.Path(sys.argv[0]).with_suffix(".calls")
count = len(calls.read_text()) if calls.exists() else 0
calls.write_text("x" * (count + 1))
case = options["--only"]
assert sys.argv[9:] == (["second.mtx.gz"] if case == "second" else []), sys.argv
record = {"name": f"spmv/{case}/sporos/retained", "case": case, "contender": "sporos", "memory": "retained", "threads": 1}
record |= {"median_seconds": (8 - count) / 1e3, "least": (4 - count) / 1e3 if case == "first" else 1}
context = {"subject": "spmv", "date": "2026-01-02T03:04:05Z", "machine": "processor", "cores": 4, "threads": 1}
context |= {"compiler": "g++ 12.2.0", "vectors": "AVX2"}
pathlib.Path(options["--json"]).write_text(json.dumps({"context": context, "benchmarks": [record]}))
"""
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for build in ("one", "other"):
        program = folder / build / "bin" / "perf_spmv"
        program.parent.mkdir(parents=True)
        program.write_text(PROGRAM)
        program.chmod(0o755)
    (folder / "second.mtx.gz").touch()
    turns = f"{source.resolve()}/scripts/turns --to turns --turns 2 --builds a=one b=other -- spmv=first,second.mtx.gz"
    expect("turns_a.json\nturns_b.json\n", printed(turns, folder), turns)
    for build in ("a", "b"):
        records = json.loads((folder / f"turns_{build}.json").read_text())["benchmarks"]
        found = {record["case"]: (record["seconds"], record["median_seconds"]) for record in records}
        if found != {"first": (0.002, 0.007), "second": (1, 0.006)}:
            sys.exit(f"{turns}: {found}")
print(f"the tables below {len(commented)} commands, and those of made-up records, are as printed")
