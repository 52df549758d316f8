# SPDX-License-Identifier: Apache-2.0
"""How Spack (1.0 or newer) installs Sporos: spack repo add packaging/spack_repo/sporos, then spack install sporos."""
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Sporos(CMakePackage, CudaPackage):
    """Sparse tensor algebra in index notation over formats that are types, on Kokkos, with no code generator."""

    # The recipe is a part of the sources: they come from the clone that it lies in.
    homepage = git = pathlib.Path(__file__).resolve().parents[5].as_uri()

    license("Apache-2.0")

    version("main", branch="main")

    variant("openmp", default=True, description="Run statements on OpenMP threads")
    variant("mpi", default=False, description="Tensors across the processes of MPI, Sporos::distributed")
    variant("hdf5", default=True, description="Read and write binsparse files")
    variant("kokkos_kernels", default=False, description="Exchange matrices with Kokkos Kernels")
    variant("tools", default=True, description="Build the command-line tool sporos")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("kokkos@4.7: +serial cxxstd=20")
    depends_on("kokkos +openmp", when="+openmp")
    depends_on("kokkos +cuda +cuda_lambda +wrapper", when="+cuda")
    depends_on("kokkos-kernels@4.4:", when="+kokkos_kernels")
    depends_on("zlib-api")
    depends_on("fast-float")
    depends_on("hdf5@1.10: ~mpi", when="+hdf5")
    depends_on("mpi", when="+mpi")
    depends_on("cli11", type="build", when="+tools")
    depends_on("fmt", when="+tools")
    depends_on("nlohmann-json", type="build", when="+tools")
    depends_on("googletest +gmock", type="test")

    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        if arch != "90":
            conflicts(f"cuda_arch={arch}", when="+cuda", msg="the kernels of GPUs are for Hopper: cuda_arch=90")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU: cuda_arch=90")
    conflicts("%gcc@:11", msg="g++ 12 or newer is needed")
    conflicts("%llvm@:14", msg="clang++ 15 or newer is needed")

    def cmake_args(self):
        args = [
            self.define_from_variant("SPOROS_ENABLE_MPI", "mpi"),
            self.define_from_variant("SPOROS_ENABLE_HDF5", "hdf5"),
            self.define_from_variant("SPOROS_ENABLE_KOKKOS_KERNELS", "kokkos_kernels"),
            self.define_from_variant("SPOROS_BUILD_TOOLS", "tools"),
            self.define("SPOROS_BUILD_TESTS", self.run_tests),
            self.define("SPOROS_BUILD_EXAMPLES", False),
            self.define("SPOROS_BUILD_PERF_TESTS", False),
            # What is installed runs on other processors than that of the machine that builds it.
            self.define("SPOROS_PORTABLE", True),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        return args
