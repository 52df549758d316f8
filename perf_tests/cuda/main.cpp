// SPDX-License-Identifier: Apache-2.0
/// @file main.cpp
/// The kernels on the GPU beside cuSPARSE's and cuBLAS's, in one run.
///
///     perf_cuda --benchmark_repetitions=7 --benchmark_enable_random_interleaving=true
///               --benchmark_out=cuda.json --benchmark_out_format=json
///
/// Times are the device's, of one call; matrices stay in the L2 cache between calls where they fit (60 MB on
/// an H200). SPOROS_PERF names the families to measure, of spmv, spmm, classes, sddmm, mttkrp, spgemm, sum,
/// scan, scatter, nm, two_four, layers, batches and nest; all where it is not set.
#include <sys/utsname.h>

#include "harness.hpp"

int main(int argc, char** argv) {
  using namespace sporos::perf;
  const sporos::ScopeGuard guard(argc, argv);
  const char* const chosen = std::getenv("SPOROS_PERF");
  const auto wanted = [&](const std::string& family) {
    return !chosen || std::string(chosen).find(family) != std::string::npos;
  };
  if (wanted("spmv")) add_spmv();
  if (wanted("spmm")) add_spmm();
  if (wanted("classes")) add_row_classes();
  if (wanted("sddmm")) add_sddmm();
  if (wanted("mttkrp")) add_mttkrp();
  if (wanted("spgemm")) add_spgemm();
  if (wanted("sum")) add_sums();
  if (wanted("scan")) add_scans();
  if (wanted("scatter")) add_scattered_results();
  if (wanted("nm")) add_n_of_m();
  if (wanted("two_four")) add_two_four();
  if (wanted("layers")) add_layers();
  if (wanted("batches")) add_batches();
  if (wanted("nest")) add_nests();

  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  int driver = 0;
  int runtime = 0;
  int version = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  cusparseGetVersion(cusparse(), &version);
  std::string command;
  for (int at = 0; at < argc; ++at) command += std::string(at ? " " : "") + argv[at];
  benchmark::AddCustomContext("machine", device.name);
  benchmark::AddCustomContext("cuda_driver", std::to_string(driver));
  benchmark::AddCustomContext("cuda_runtime", std::to_string(runtime));
  benchmark::AddCustomContext("cusparse", std::to_string(version));
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("command", command);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  benchmark::ClearRegisteredBenchmarks();  // they hold tensors
}
