// SPDX-License-Identifier: Apache-2.0
/// @file spgemm.cpp
/// A A in CSR, beside cuSPARSE's three algorithms: time with all memory at hand, as a statement with a new
/// result each time, whose memory comes from the pool, time with memory fetched for each product, and the
/// memory beside A and the result (`workspace_bytes`). SPOROS_MATRICES names more matrices: files, separated
/// by colons.
#include <memory>

#include "cusparse_product.hpp"
#include "patterns.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

/// Has all arrays on the GPU allocated anew.
class FreshMemory {
 public:
  FreshMemory() { pool<Cuda>().limit(0); }
  ~FreshMemory() { pool<Cuda>().limit(before_); }
  FreshMemory(const FreshMemory&) = delete;
  FreshMemory& operator=(const FreshMemory&) = delete;

 private:
  const std::int64_t before_ = pool<Cuda>().limit();
};

template <class Value>
void add_matrix(const std::string& matrix, const CsrMaker& maker) {
  const auto a = maker.make<Value>();
  const std::string tail = "/" + matrix + "/" + std::string(value_name<Value>());
  using View = gpu::CsrView<Value, std::int32_t, std::int32_t>;
  using Product = gpu::Spgemm<Value, View, View, View>;
  const auto workspace = std::make_shared<gpu::SpgemmWorkspace>();
  const auto view = gpu::detail::csr_view(a);

  const auto multiply = [=](auto& c) {  // into memory that is kept
    Product product(Kokkos::Cuda(), view, view, *workspace);
    const std::int64_t nonzeros = product.count(c.positions.data());
    if (static_cast<std::int64_t>(c.coordinates.extent(0)) != nonzeros) {
      c.coordinates = make_array<std::int32_t, gpu::Memory>("coordinates", nonzeros);
      c.values = make_array<Value, gpu::Memory>("values", nonzeros);
    }
    product.fill(
        View{view.rows, view.columns, nonzeros, c.positions.data(), c.coordinates.data(), c.values.data()});
    return product.products();
  };
  struct Kept {
    Array<std::int32_t, gpu::Memory> positions;
    Array<std::int32_t, gpu::Memory> coordinates;
    Array<Value, gpu::Memory> values;
  };
  add(
      "spgemm/sporos" + tail,
      [=](benchmark::State& state) {
        Kept c{make_array<std::int32_t, gpu::Memory>("positions", a.extent(0) + 1), {}, {}};
        std::int64_t products = 0;
        measure(state, 1, [&] { products = multiply(c); });
        state.counters["products_per_second"] =
            benchmark::Counter(static_cast<double>(products), benchmark::Counter::kIsIterationInvariantRate);
        state.counters["nonzeros"] = static_cast<double>(c.values.extent(0));
        state.counters["workspace_bytes"] = static_cast<double>(workspace->size());
        workspace->release();
      },
      5);
  for (const bool fresh : {false, true})
    add(
        std::string("spgemm/sporos_statement_") + (fresh ? "fresh_memory" : "new_result") + tail,
        [=](benchmark::State& state) {
          const auto memory = fresh ? std::make_unique<const FreshMemory>() : nullptr;
          DeviceCsr<Value> c(a.extents());
          measure(state, 1, [&] {
            if (fresh) detail::default_scratch<Cuda>().release();
            c = DeviceCsr<Value>(a.extents());
            c(i, j) = a(i, k) * a(k, j);
          });
        },
        3);
  for (const auto& [name, algorithm] :
       {std::pair("cusparse_alg1", CUSPARSE_SPGEMM_ALG1), std::pair("cusparse_alg2", CUSPARSE_SPGEMM_ALG2),
        std::pair("cusparse_alg3", CUSPARSE_SPGEMM_ALG3)})
    for (const bool fresh : {false, true})
      add(
          "spgemm/" + std::string(name) + (fresh ? "_fresh_memory" : "") + tail,
          [=, algorithm = algorithm](benchmark::State& state) {
            try {
              const auto memory = fresh ? std::make_unique<const FreshMemory>() : nullptr;
              CusparseProduct<Value> peer(a, a, algorithm);
              measure(state, 1, [&] {
                if (fresh) peer.release();
                peer();
              });
              state.counters["nonzeros"] = static_cast<double>(peer.values().extent(0));
              state.counters["workspace_bytes"] = peer.workspace_bytes();
              if (!fresh) {
                const DeviceCsr<Value> c(a.extents());
                c(i, j) = a(i, k) * a(k, j);
                state.counters["difference"] = difference(c.values(), peer.values());
                detail::default_scratch<Cuda>().release();
              }
            } catch (const std::exception& failure) {
              state.SkipWithError(failure.what());
            }
          },
          3);
}

}  // namespace

void add_spgemm() {
  add_matrix<double>("laplacian7_80", laplacian(80, false));
  add_matrix<double>("laplacian27_45", laplacian(45, true));
  add_matrix<double>("rmat_16_500k", rmat(16, 500'000));
  add_matrix<float>("rmat_16_500k", rmat(16, 500'000));
  add_matrix<double>("laplacian7_128", laplacian(128, false));
  add_matrix<double>("uniform_500k_4M", uniform(500'000, 500'000, 4'000'000));
  add_matrix<float>("uniform_500k_4M", uniform(500'000, 500'000, 4'000'000));
  add_matrix<double>("rmat_18_3M", rmat(18, 3'000'000));
  for (const Input& input : named_inputs()) {
    const CsrMaker maker = input.make();
    add_matrix<double>(input.name, maker);
    add_matrix<float>(input.name, maker);
  }
}

}  // namespace sporos::perf
