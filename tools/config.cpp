// SPDX-License-Identifier: Apache-2.0
/// @file config.cpp
/// `sporos config`: what the program was built from and what it runs on, to be included in bug reports.
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <sporos/core/space.hpp>
#include <sporos/version.hpp>
#include <string>
#include <string_view>

#include "build_facts.hpp"
#include "commands.hpp"
#include "machine.hpp"

extern const char* const sporos_commit;  // written when the program is built

namespace sporos::tool {
namespace {

/// A version; if the program was built without the part, "no" for people and null for programs.
void describe_part(Report& report, std::string_view key, std::string_view label, const std::string& version) {
  report.fact(key, "", version.empty() ? Cell(Absent{}) : Cell(version));
  report.fact("", label, version.empty() ? std::string("no") : version);
}

std::string spaces() {
  std::string names;
#ifdef KOKKOS_ENABLE_SERIAL
  names += "Serial";
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  names += names.empty() ? "OpenMP" : ", OpenMP";
#endif
#ifdef KOKKOS_ENABLE_THREADS
  names += names.empty() ? "Threads" : ", Threads";
#endif
#ifdef KOKKOS_ENABLE_CUDA
  names += names.empty() ? "Cuda" : ", Cuda";
#endif
  return names;
}

void describe_program(Report& report) {
  report.fact("version", std::string(SPOROS_VERSION_STRING));
  report.fact("commit", std::string(sporos_commit));
  report.fact("compiler", std::string(SPOROS_TOOL_COMPILER));
  report.fact("build_type", "build type", std::string(SPOROS_TOOL_BUILD_TYPE));
  report.fact("compiled_for", "compiled for", compiled_extensions());
  report.fact("kokkos", "Kokkos", std::string(SPOROS_TOOL_KOKKOS));
  report.fact("spaces", spaces());
  report.fact("host_space", "default on the host", std::string(Host::name()));
  describe_part(report, "kokkos_kernels", "Kokkos Kernels", SPOROS_TOOL_KOKKOS_KERNELS);
#ifdef KOKKOS_ENABLE_CUDA
  const int cuda = CUDART_VERSION;
  describe_part(report, "cuda", "CUDA", text(cuda / 1000, '.', cuda % 1000 / 10));
#else
  describe_part(report, "cuda", "CUDA", "");
#endif
  describe_part(report, "mpi", "MPI found", SPOROS_TOOL_MPI);
  describe_part(report, "zlib", "zlib", zlibVersion());
}

void describe_machine(Report& report) {
  report.fact("processor", processor_name());
  report.fact("extensions", "vector extensions", processor_extensions());
  report.fact("processors", "processors to run on", Count{available_processors()});
  report.fact("threads", "threads", Count{Host().concurrency()});
  report.fact("memory_bytes", "memory", Bytes{memory_bytes()});
  report.fact("available_memory_bytes", "of it free", Bytes{available_memory_bytes()});
  describe_part(report, "gpu", "GPU", device_name());
}

Outcome config() {
  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("config"));
  describe_program(report.section("program", "program"));
  describe_machine(report.section("machine", "machine"));
  return outcome;
}

}  // namespace

void add_config(CLI::App& app, Choice& choice) {
  CLI::App& command = add_command(app, choice, "config", "What the program is built of, and what it runs on",
                                  [] { return config(); });
  command.footer("Please put this into a report of a fault.");
}

}  // namespace sporos::tool
