// SPDX-License-Identifier: Apache-2.0
/// @file scattered_results.cpp
/// Sparse results that scatter over several variables: outer products of matrices beside cuSPARSE's product
/// by rows, and tensors with sparse factors (SpMTTKRP) and matrices (SpTTM) beside the host, whose number of
/// threads the environment sets.
///
/// Working memory is kept from one run to the next, results are new in each. `peak_bytes` is the most memory
/// that a run takes beside its operands and its result.
#include <chrono>
#include <sporos/core/peak_memory.hpp>

#include "../nips_like.hpp"
#include "cusparse_product.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

/// The peak of memory of a call, beside the result that it replaces.
template <class Result, class Work>
double peak_bytes(const Result& result, const Work& work) {
  const PeakMemory peak;
  work();
  return static_cast<double>(peak.bytes() - result.bytes());
}

void add_product(const std::string& matrix, const CsrMaker& left, const CsrMaker& right) {
  const auto b = left.make<double>();
  const auto c = right.make<double>();
  const auto by_columns = convert<CSC<std::int32_t, std::int32_t>>(b.copy_to<Host>()).copy_to<Cuda>();
  const auto run = [=](const std::string& name, const auto& schedule) {
    add(
        "scatter/outer_product/" + name + "/" + matrix,
        [=](benchmark::State& state) {
          const auto multiply = [=](const auto& a) {
            schedule(assign(a(i, j), by_columns(i, k) * c(k, j)).reorder(k, i, j)).run();
          };
          const DeviceCsr<double> a({b.extent(0), c.extent(1)});
          detail::default_scratch<Cuda>().release();
          state.counters["peak_bytes"] = peak_bytes(a, [&] { multiply(a); });
          measure(state, 1, [&] { multiply(a); });
          state.counters["nonzeros"] = static_cast<double>(a.nnz());
          detail::default_scratch<Cuda>().release();
        },
        3);
  };
  run("sporos", [](const auto& statement) { return statement; });
  run("sporos_nest", [](const auto& statement) { return statement.generic(); });
  for (const auto& [name, algorithm] :
       {std::pair("cusparse_alg1", CUSPARSE_SPGEMM_ALG1), std::pair("cusparse_alg2", CUSPARSE_SPGEMM_ALG2),
        std::pair("cusparse_alg3", CUSPARSE_SPGEMM_ALG3)})
    add(
        "scatter/outer_product/" + std::string(name) + "/" + matrix,
        [=, algorithm = algorithm](benchmark::State& state) {
          try {
            CusparseProduct<double> peer(b, c, algorithm);
            measure(state, 1, [&] {
              peer.release_result();
              peer();
            });
            state.counters["nonzeros"] = static_cast<double>(peer.values().extent(0));
            state.counters["peak_bytes"] = peer.workspace_bytes();
            const DeviceCsr<double> a({b.extent(0), c.extent(1)});
            assign(a(i, j), by_columns(i, k) * c(k, j)).generic().run();
            state.counters["difference"] = difference(a.values(), peer.values());
          } catch (const std::exception& failure) {
            state.SkipWithError(failure.what());
          }
        },
        3);
}

/// A statement on the device and on the host.
template <class OnDevice, class OnHost>
void add_beside_host(const std::string& name, const OnDevice& device, const OnHost& host) {
  add(
      "scatter/" + name + "/sporos",
      [=](benchmark::State& state) {
        std::int64_t nonzeros = 0;
        measure(state, 1, [&] { nonzeros = device(); });
        state.counters["nonzeros"] = static_cast<double>(nonzeros);
      },
      3);
  add(
      "scatter/" + name + "/host",
      [=](benchmark::State& state) {
        std::int64_t nonzeros = host();
        for (auto _ : state) {
          const auto begin = std::chrono::steady_clock::now();
          nonzeros = host();
          state.SetIterationTime(
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        state.counters["nonzeros"] = static_cast<double>(nonzeros);
        state.counters["threads"] = static_cast<double>(Host().concurrency());
      },
      3);
}

void add_tensors() {
  const auto T = assemble<CSF<3>>(nips_like(500'000));
  const auto C = uniform(2862, 64, 2862 * 4).make<double>().copy_to<Host>();
  const auto D = uniform(2482, 64, 2482 * 4).make<double>().copy_to<Host>();
  const auto device_T = T.copy_to<Cuda>();
  const auto device_C = C.copy_to<Cuda>();
  const auto device_D = D.copy_to<Cuda>();
  add_beside_host(
      "mttkrp/nips_like_64",
      [=] {
        const DeviceCsr<double> A({14036, 64});
        A(k, r) = device_T(i, j, k) * device_C(j, r) * device_D(i, r);
        return A.nnz();
      },
      [=] {
        const Tensor<double, Csr> A({14036, 64});
        A(k, r) = T(i, j, k) * C(j, r) * D(i, r);
        return A.nnz();
      });
  add_beside_host(
      "ttm/nips_like_64",
      [=] {
        const Tensor<double, CSF<3>, Cuda> A({2862, 14036, 64});
        A(j, k, r) = device_T(i, j, k) * device_D(i, r);
        return A.nnz();
      },
      [=] {
        const Tensor<double, CSF<3>> A({2862, 14036, 64});
        A(j, k, r) = T(i, j, k) * D(i, r);
        return A.nnz();
      });
}

}  // namespace

void add_scattered_results() {
  const auto graph = rmat(16, 500'000), grid = laplacian(80, false),
             wide = uniform(500'000, 500'000, 2'000'000);
  add_product("laplacian7_80", grid, grid);
  add_product("rmat_16_500k", graph, graph);
  add_product("uniform_500k_2M", wide, wide);
  add_tensors();
}

}  // namespace sporos::perf
