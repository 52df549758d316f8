// SPDX-License-Identifier: Apache-2.0
/// @file sum.cpp
/// A + B in CSR with memory at hand, beside cuSPARSE's csrgeam2.
#include "harness.hpp"

namespace sporos::perf {

namespace {

inline auto geam_size(cusparseHandle_t h, int m, int n, const double* x, cusparseMatDescr_t d, const auto& a,
                      const auto& b, const double* y, auto& c, std::size_t* size) {
  return cusparseDcsrgeam2_bufferSizeExt(h, m, n, x, d, static_cast<int>(a.nonzeros), a.values, a.positions,
                                         a.coordinates, y, d, static_cast<int>(b.nonzeros), b.values,
                                         b.positions, b.coordinates, d, c.values, c.positions, c.coordinates,
                                         size);
}
inline auto geam_size(cusparseHandle_t h, int m, int n, const float* x, cusparseMatDescr_t d, const auto& a,
                      const auto& b, const float* y, auto& c, std::size_t* size) {
  return cusparseScsrgeam2_bufferSizeExt(h, m, n, x, d, static_cast<int>(a.nonzeros), a.values, a.positions,
                                         a.coordinates, y, d, static_cast<int>(b.nonzeros), b.values,
                                         b.positions, b.coordinates, d, c.values, c.positions, c.coordinates,
                                         size);
}
inline auto geam(cusparseHandle_t h, int m, int n, const double* x, cusparseMatDescr_t d, const auto& a,
                 const auto& b, const double* y, auto& c, void* buffer) {
  return cusparseDcsrgeam2(h, m, n, x, d, static_cast<int>(a.nonzeros), a.values, a.positions, a.coordinates,
                           y, d, static_cast<int>(b.nonzeros), b.values, b.positions, b.coordinates, d,
                           c.values, c.positions, c.coordinates, buffer);
}
inline auto geam(cusparseHandle_t h, int m, int n, const float* x, cusparseMatDescr_t d, const auto& a,
                 const auto& b, const float* y, auto& c, void* buffer) {
  return cusparseScsrgeam2(h, m, n, x, d, static_cast<int>(a.nonzeros), a.values, a.positions, a.coordinates,
                           y, d, static_cast<int>(b.nonzeros), b.values, b.positions, b.coordinates, d,
                           c.values, c.positions, c.coordinates, buffer);
}

template <class Value>
void add_pair(const std::string& matrices, const CsrMaker& left, const CsrMaker& right) {
  using View = gpu::CsrView<Value, std::int32_t, std::int32_t>;
  const auto a = left.make<Value>();
  const auto b = right.make<Value>();
  const std::string tail = "/" + matrices + "/" + std::string(value_name<Value>());
  const auto a_view = gpu::detail::csr_view(a);
  const auto b_view = gpu::detail::csr_view(b);
  const std::int64_t most = a.nnz() + b.nnz();
  const auto positions = make_array<std::int32_t, gpu::Memory>("positions", a.extent(0) + 1);
  const auto coordinates = make_array<std::int32_t, gpu::Memory>("coordinates", most);
  const auto values = make_array<Value, gpu::Memory>("values", most);
  const auto peer_positions = make_array<std::int32_t, gpu::Memory>("positions", a.extent(0) + 1);
  const auto peer_coordinates = make_array<std::int32_t, gpu::Memory>("coordinates", most);
  const auto peer_values = make_array<Value, gpu::Memory>("values", most);
  const auto workspace = std::make_shared<gpu::Workspace>();
  const auto run = [=] {
    gpu::SparseSum<Value, View, View, View> sum(Kokkos::Cuda(), a_view, b_view, *workspace);
    const std::int64_t nonzeros = sum.count(positions.data());
    sum.fill(View{a_view.rows, a_view.columns, nonzeros, positions.data(), coordinates.data(), values.data()},
             Value{1}, Value{1});
    return nonzeros;
  };
  add(
      "sum/sporos" + tail,
      [=](benchmark::State& state) {
        std::int64_t nonzeros = 0;
        measure(state, 5, [&] { nonzeros = run(); });
        state.counters["nonzeros"] = static_cast<double>(nonzeros);
        state.counters["workspace_bytes"] = static_cast<double>(workspace->size());
      },
      10);
  add(
      "sum/cusparse_csrgeam2" + tail,
      [=](benchmark::State& state) {
        cusparseMatDescr_t general = nullptr;
        check(cusparseCreateMatDescr(&general), "cusparseCreateMatDescr");
        const Value one{1};
        const int rows = static_cast<int>(a.extent(0));
        const int columns = static_cast<int>(a.extent(1));
        View c{a_view.rows,           a_view.columns,          most,
               peer_positions.data(), peer_coordinates.data(), peer_values.data()};
        std::size_t size = 0;
        check(geam_size(cusparse(), rows, columns, &one, general, a_view, b_view, &one, c, &size),
              "csrgeam2_bufferSizeExt");
        const Array<char, gpu::Memory> buffer("buffer", size + 1);
        int nonzeros = 0;
        measure(state, 5, [&] {
          check(cusparseXcsrgeam2Nnz(cusparse(), rows, columns, general, static_cast<int>(a.nnz()),
                                     a_view.positions, a_view.coordinates, general, static_cast<int>(b.nnz()),
                                     b_view.positions, b_view.coordinates, general, c.positions, &nonzeros,
                                     buffer.data()),
                "cusparseXcsrgeam2Nnz");
          check(geam(cusparse(), rows, columns, &one, general, a_view, b_view, &one, c, buffer.data()),
                "csrgeam2");
        });
        state.counters["nonzeros"] = nonzeros;
        state.counters["workspace_bytes"] = static_cast<double>(size);
        const auto mine = static_cast<std::size_t>(run());
        const auto head = [&](const auto& array) { return Array<Value, gpu::Memory>(array.data(), mine); };
        state.counters["difference"] =
            mine == static_cast<std::size_t>(nonzeros) ? difference(head(values), head(peer_values)) : 1e300;
        cusparseDestroyMatDescr(general);
      },
      10);
}

}  // namespace

void add_sums() {
  const auto random = uniform(1'000'000, 1'000'000, 8'000'000);
  add_pair<double>("uniform_1M_8M+laplacian7_100", random, laplacian(100, false));
  add_pair<float>("uniform_1M_8M+laplacian7_100", random, laplacian(100, false));
  add_pair<double>("laplacian27_100+laplacian7_100", laplacian(100, true), laplacian(100, false));
  const auto graph = rmat(18, 4'000'000);
  add_pair<double>("rmat_18_4M+uniform_256k_4M", graph, uniform(1 << 18, 1 << 18, 4'000'000));
}

}  // namespace sporos::perf
