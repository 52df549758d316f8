#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_spack_recipe.py SOURCE_DIR: runs the recipe for Spack with a stand-in for Spack, in every combination of its
variants, and compares what it says with what CMake's files say."""
import itertools
import pathlib
import re
import sys
import types

source = pathlib.Path(sys.argv[1])
recipe = source / "packaging/spack_repo/sporos/packages/sporos/package.py"
directives = []


def expect(holds, what):
    if not holds:
        sys.exit(f"{recipe}: {what}")


class Spec:
    def __init__(self, variants):
        self.variants = variants

    def satisfies(self, condition):
        match = re.fullmatch(r"([+~])(\w+)", condition)
        expect(match and match[2] in self.variants, f"asks for {condition}, which is no variant")
        return self.variants[match[2]] == (match[1] == "+")


class CMakePackage:
    """As far as the recipe uses it: https://spack.readthedocs.io, "CMake" in "Build Systems"."""

    def __init__(self, variants, run_tests):
        self.spec, self.run_tests = Spec(variants), run_tests

    def define(self, name, value):
        expect(isinstance(value, (bool, str)), f"defines {name} as {value!r}")
        return f"-D{name}={value}"

    def define_from_variant(self, name, variant):
        expect(variant in self.spec.variants, f"takes {name} from {variant}, which is no variant")
        return self.define(name, self.spec.variants[variant])

    def __getitem__(self, dependency):
        expect(dependency in dependencies, f"uses {dependency}, on which it does not depend")
        return types.SimpleNamespace(kokkos_cxx="nvcc_wrapper")


class CudaPackage:
    cuda_arch_values = ("80", "90", "90a", "100")


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


def directive(name):
    return lambda *arguments, **options: directives.append((name, arguments, options))


for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
    module(name)
names = ("license", "version", "variant", "depends_on", "conflicts")
module("spack.package", **{name: directive(name) for name in names})
module("spack_repo.builtin.build_systems.cmake", CMakePackage=CMakePackage)
module("spack_repo.builtin.build_systems.cuda", CudaPackage=CudaPackage)
recipe_scope = {"__file__": str(recipe)}
exec(compile(recipe.read_text(), str(recipe), "exec"), recipe_scope)
package = recipe_scope["Sporos"]


def arguments_of(name):
    return [(arguments[0], options) for which, arguments, options in directives if which == name]


dependencies = {spec.split()[0].split("@")[0] for spec, _ in arguments_of("depends_on")}
variants = [name for name, _ in arguments_of("variant")] + ["cuda"]
cmake = (source / "CMakeLists.txt").read_text()
compiler = (source / "cmake/SporosCompiler.cmake").read_text()

expect(package.__doc__ and package.git.startswith("file://"), "has no description, or no sources")
expect(pathlib.Path(package.git.removeprefix("file://")) == source.resolve(), f"takes its sources from {package.git}")
for _, options in arguments_of("depends_on") + arguments_of("conflicts"):
    for variant in re.findall(r"[+~](\w+)", options.get("when", "")):
        expect(variant in variants, f"has a condition on {variant}, which is no variant")

# The oldest versions of what is needed are those that CMake asks for.
oldest = {spec.split("@")[0]: spec.split("@")[1].split(":")[0] for spec, _ in arguments_of("depends_on") if "@" in spec}
expect(f"cmake_minimum_required(VERSION {oldest['cmake']})" in cmake, f"needs CMake {oldest['cmake']}")
kokkos = (source / "cmake/SporosConfig.cmake.in").read_text()
expect(f"find_dependency(Kokkos {oldest['kokkos']} " in kokkos, f"needs Kokkos {oldest['kokkos']}")
for spack_name, cmake_name in (("gcc", "GNU"), ("llvm", "Clang")):
    refused = int(next(spec for spec, _ in arguments_of("conflicts") if spec.startswith("%" + spack_name)).split("@:")[1])
    expect(f"SPOROS_OLDEST_{cmake_name} {refused + 1})" in compiler, f"refuses {spack_name} up to {refused}")

for values in itertools.product((False, True), repeat=len(variants) + 1):
    given = dict(zip(variants, values))
    for argument in package(given, values[-1]).cmake_args():
        option = re.fullmatch(r"-D(\w+)=(True|False|nvcc_wrapper)", argument)
        expect(option, f"passes {argument}")
        known = option[1].startswith("CMAKE_") or re.search(rf"(option|set)\({option[1]} ", cmake)
        expect(known, f"passes {option[1]}, which CMakeLists.txt does not have")
print(f"{len(directives)} directives and {2 ** (len(variants) + 1)} combinations of variants are as CMake has them")
