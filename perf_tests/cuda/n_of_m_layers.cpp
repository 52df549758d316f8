// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m_layers.cpp
/// The product of a dense and an N:M sparse matrix in float, M = L = 32, for the shapes of the linear layers
/// of Llama models and of others: beside cuBLAS's product with the same matrix dense and, where their sources
/// are given, NM-SpMM and nmSPARSE.
///
/// Ma et al., *NM-SpMM* (arXiv 2503.01253), section IV, has the hundred shapes of layers, 256 to 4096 rows.
/// `sporos` is a plan whose sparse operand is packed once, by the candidate that is expected to be fastest;
/// `sporos_blocks` the one on CUDA cores; both turn the row-major dense matrix around in every run.
/// `sporos_blocks_by_columns` takes it by columns, as the peers do. NM-SpMM runs with the fastest of its
/// kernels and divisions of k (counters `kernel`, `division`), which have been searched for; where it divides
/// k, it adds to a result that somebody else has to make zero, which is not counted.
///
/// All contenders for a shape are measured in turn. A time is the median of the rounds; `slowest` and
/// `fastest`, in microseconds, are those of its rounds. flops_per_second counts what is kept. `difference` is
/// the largest from cuBLAS's product, over the largest entry. `predicted` is what a plan expects to take, in
/// microseconds (kernels/n_of_m/cuda/model.hpp).
#include "nm_peers.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

struct Shape {
  std::int64_t m, n, k;
};

/// Random numbers between -1 and 1 of a rows x columns matrix, the same for either layout.
struct Fill {
  float* values;
  std::int64_t columns;
  std::uint64_t seed;
  bool by_columns;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const std::int64_t row = by_columns ? at % rows : at / columns,
                       column = by_columns ? at / rows : at % columns;
    std::uint64_t bits = seed + static_cast<std::uint64_t>(row * columns + column) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    values[at] = static_cast<float>((bits ^ (bits >> 31)) >> 40) / 8388608.0F - 1.0F + 0x1p-25F;
  }
};

/// |a - b|, where a may be by columns, or |a|, at each place of b; infinite where it is not a number.
struct Size {
  const float *a, *b;
  std::int64_t rows, columns;
  bool is_by_columns;

  KOKKOS_FUNCTION void operator()(std::int64_t at, double& most) const {
    const double x = a[is_by_columns ? at % columns * rows + at / columns : at], y = b ? b[at] : 0;
    const double size = x > y ? x - y : y - x;
    if (!(size <= most)) most = size == size ? size : 1e300;
  }
};

template <class Functor>
void for_each(std::int64_t count, const Functor& functor) {
  Kokkos::parallel_for("for_each", Kokkos::RangePolicy<Kokkos::Cuda>(0, count), functor);
}

double largest(std::int64_t count, const Size& size) {
  double out = 0;
  Kokkos::parallel_reduce("largest", Kokkos::RangePolicy<Kokkos::Cuda>(0, count), size,
                          Kokkos::Max<double>(out));
  return out;
}

class Layer {
 public:
  explicit Layer(const Shape& shape) : shape_(shape) {}

  /// @param name  of a contender and a ratio: `key`
  const Figures& operator[](const std::string& name) {
    if (figures_.empty()) measure();
    return figures_.at(name);
  }
  static std::string key(const std::string& contender, int kept) { return text(contender, " ", kept); }
  static std::vector<std::string> contenders() {
    return {
        "sporos",   "sporos_blocks", "sporos_blocks_by_columns", "cublas",
#ifdef SPOROS_HAVE_NM_SPMM
        "nm_spmm",
#endif
#ifdef SPOROS_HAVE_NMSPARSE
        "nmsparse",
#endif
    };
  }

 private:
  using ByColumns = Tensor<float, DenseMatrix<ColumnMajor>, Cuda>;

  void measure() {
    constexpr int rounds = 5;
    const auto [m, n, inner] = shape_;
    const Matrix<float> a({m, inner}), b({inner, n}), c({m, n}), expected({m, n});
    const ByColumns a_by_columns({m, inner});
    for_each(m * inner, Fill{a.values().data(), inner, 1, false, m});
    for_each(m * inner, Fill{a_by_columns.values().data(), inner, 1, true, m});
    for_each(inner * n, Fill{b.values().data(), n, 2, false, inner});
    Rounds all;
    all.add("cublas", [=] { multiply(a, b, expected); });
    add<16>(all, a, a_by_columns, b, c, expected);
    add<12>(all, a, a_by_columns, b, c, expected);
    add<8>(all, a, a_by_columns, b, c, expected);
    add<4>(all, a, a_by_columns, b, c, expected);
    figures_ = all.measure(rounds);
    for (const int kept : {16, 12, 8, 4}) figures_[key("cublas", kept)] = figures_["cublas"];
  }

  /// Row-major C = A B by cuBLAS.
  static void multiply(const Matrix<float>& a, const Matrix<float>& b, const Matrix<float>& c) {
    const float one = 1, zero = 0;
    const auto m = static_cast<int>(c.extent(0)), n = static_cast<int>(c.extent(1)),
               k = static_cast<int>(a.extent(1));
    check(cublasSgemm(cublas(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b.values().data(), n,
                      a.values().data(), k, &zero, c.values().data(), n),
          "cublasSgemm");
  }

  template <int N>
  void add(Rounds& all, const Matrix<float>& a, const ByColumns& a_by_columns, const Matrix<float>& unpruned,
           const Matrix<float>& c, const Matrix<float>& expected) const {
    const auto [m, n, inner] = shape_;
    const std::int64_t kept = inner / 32 * N;
    const auto b = prune<NM<N, 32, 32>>(unpruned);
    const auto count = static_cast<std::size_t>(kept * n);
    const Array<float, gpu::Memory> values("values", count);
    const Array<int, gpu::Memory> rows("rows", count);
    for_each(kept * n, KeptRows<float>{nm_view(b), values.data(), rows.data()});
    const Matrix<float> dense({inner, n});
    Kokkos::deep_copy(dense.values(), 0.0F);
    for_each(kept * n, Scatter{values.data(), rows.data(), n, dense.values().data()});
    multiply(a, dense, expected);
    const double scale = largest(m * n, {expected.values().data(), nullptr, m, n, false});
    const auto add_checked = [&](const std::string& contender, std::function<void()> work,
                                 bool is_by_columns = false, std::map<std::string, double> counters = {}) {
      for_each(m * n, Fill{c.values().data(), n, 3, false, m});
      if (counters.contains("division") && counters.at("division") > 1)
        check(cudaMemset(c.values().data(), 0, static_cast<std::size_t>(m * n) * sizeof(float)), "zeros");
      Kokkos::fence();
      work();
      check(cudaDeviceSynchronize(), contender.c_str());
      counters["difference"] =
          largest(m * n, {c.values().data(), expected.values().data(), m, n, is_by_columns}) / scale;
      all.add(key(contender, N), std::move(work), std::move(counters));
    };
    const auto add_plan = [&](const std::string& contender, const auto& statement) {
      auto product = std::make_shared<decltype(plan(statement))>(plan(statement));
      add_checked(contender, [=] { product->run(); }, false,
                  {{"predicted", least_cost(statement).again * 1e6}});
    };
    const auto product = assign(c(i, j), a(i, sporos::indices::k) * b(sporos::indices::k, j));
    add_plan("sporos", product.with_constant_operands());
    add_plan("sporos_blocks", product.with_constant_operands().template use<gpu::NmByBlocks>());
    add_plan("sporos_blocks_by_columns",
             assign(c(i, j), a_by_columns(i, sporos::indices::k) * b(sporos::indices::k, j))
                 .with_constant_operands()
                 .template use<gpu::NmByBlocks>());

    [[maybe_unused]] const auto int_of = [](std::int64_t extent) { return static_cast<int>(extent); };
#ifdef SPOROS_HAVE_NM_SPMM
    {
      const auto indices = copy_array<Kokkos::HostSpace>(b.template level<2>().indices);
      const auto view = nm_view(b);
      std::vector<int> of_units(static_cast<std::size_t>(kept * (n / 32)));
      for (std::int64_t row = 0; row < kept; ++row)
        for (std::int64_t unit = 0; unit < n / 32; ++unit)
          of_units[static_cast<std::size_t>(row * (n / 32) + unit)] =
              indices(static_cast<std::size_t>(view.position(row / N, unit) + row % N));
      auto peer =
          std::make_shared<NmSpmmProduct>(int_of(m), int_of(n), int_of(inner), N, of_units,
                                          a_by_columns.values().data(), values.data(), c.values().data());
      peer->search();
      add_checked("nm_spmm", [=, of_peer = values] { peer->run(); }, false,
                  {{"kernel", static_cast<double>(peer->kernel())},
                   {"division", static_cast<double>(peer->division())}});
    }
#endif
#ifdef SPOROS_HAVE_NMSPARSE
    add_checked(
        "nmsparse",
        [=] {
          multiply_by_nmsparse(int_of(m), int_of(n), int_of(inner), N / 32.0F, a_by_columns.values().data(),
                               rows.data(), values.data(), c.values().data());
        },
        true);
#endif
  }

  Shape shape_;
  std::map<std::string, Figures> figures_;
};

}  // namespace

void add_layers() {
  std::vector<Shape> shapes;
  // Of a model with so many features and hidden units: queries, keys and values; the gate and what it lets
  // pass; down again; the attention's result.
  struct Model {
    std::int64_t features, hidden;
  };
  for (const std::int64_t m : {256, 512, 1024, 2048, 4096})
    for (const auto& [features, hidden] :
         {Model{2048, 5632}, {4096, 11008}, {5120, 13824}, {6656, 17920}, {8192, 22016}}) {
      shapes.push_back({m, features, features});
      shapes.push_back({m, 3 * features, features});
      shapes.push_back({m, features, hidden});
      shapes.push_back({m, hidden, features});
    }
  for (const std::int64_t extent : {512, 1024}) shapes.push_back({512, extent, extent});
  for (const auto& [m, n, k] : shapes) {
    const std::string name = text(m, "x", n, "x", k);
    const auto layer = std::make_shared<Layer>(Shape{m, n, k});
    for (const int kept : {16, 12, 8, 4})
      for (const std::string& contender : Layer::contenders())
        perf::add(
            text("layers/", contender, "/", kept, ":32/L32/", name, "/float"),
            [=](benchmark::State& state) {
              (*layer)[Layer::key(contender, kept)].report(state);
              if (state.counters.count("difference") > 0)
                report_difference(state, state.counters["difference"], 1e-5);
              state.counters["flops_per_second"] = benchmark::Counter(
                  2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * kept / 32,
                  benchmark::Counter::kIsIterationInvariantRate);
            },
            1);
  }
}

}  // namespace sporos::perf
