// SPDX-License-Identifier: Apache-2.0
/// @file read.cpp
/// How fast files are read and written, compared with Eigen's loadMarket on the same file in the same run.
///
///     perf_read --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
///               --benchmark_out=read.json --benchmark_out_format=json
///
/// bytes_per_second counts the plain text of the file in real time; cpu_time is that of all threads together,
/// so that text / cpu_time is the speed of one core. threads is the number of parsing threads; one more
/// inflates gzip text.
#include <benchmark/benchmark.h>

#ifdef SPOROS_HAVE_EIGEN
#include <Eigen/SparseCore>
#include <unsupported/Eigen/SparseExtra>
#endif

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <sporos/formats/io/file.hpp>
#include <string>

namespace {

constexpr std::int64_t entry_count = 1'000'000;

/// A folder that is removed at the end of the program.
class Folder {
 public:
  Folder() {
    const char* const base = std::getenv("TMPDIR");
    path_ = std::string(base ? base : "/tmp") + "/sporos-perf-XXXXXX";
    if (!mkdtemp(path_.data())) throw sporos::IoError(path_, "cannot be created");
  }
  ~Folder() {
    for (const auto& [name, bytes] : files_) std::remove(file(name).c_str());
    rmdir(path_.c_str());
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Records a file that was written, and its size as plain text.
  void add(const std::string& name, std::int64_t bytes) { files_[name] = bytes; }
  std::int64_t bytes(const std::string& name) const { return files_.at(name); }

 private:
  std::string path_;
  std::map<std::string, std::int64_t> files_;
};

std::int64_t file_bytes(const std::string& path) { return sporos::inspect(path).bytes; }

template <int Order>
sporos::Entries<double, Order> random_entries(const sporos::Extents<Order>& extents, bool short_values) {
  std::mt19937_64 random(7);
  sporos::Entries<double, Order> entries(extents, entry_count);
  std::uniform_real_distribution<double> value(-1, 1);
  for (std::int64_t q = 0; q < entry_count; ++q) {
    sporos::Extents<Order> at{};
    for (std::size_t mode = 0; mode < at.size(); ++mode)
      at[mode] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extents[mode]));
    const double x = value(random);
    entries.set(q, at, short_values ? std::round(x * 1000) / 100 : x);
  }
  return entries;
}

/// The files to read, written once.
Folder& data() {
  static Folder folder;
  static const bool written = [] {
    const sporos::Extents<2> square{50'000, 50'000};
    const auto full = random_entries<2>(square, false), brief = random_entries<2>(square, true);
    const auto tensor = random_entries<3>({5'000, 20'000, 80'000}, true);
    sporos::Entries<double, 2> ones = full;
    ones.values = sporos::make_array<double>("ones", entry_count);
    Kokkos::deep_copy(ones.values, 1.0);
    using sporos::MatrixMarketField;
    for (const std::string suffix : {"", ".gz"}) {
      sporos::write_matrix_market(folder.file("digits17.mtx" + suffix), full);
      sporos::write_matrix_market(folder.file("digits3.mtx" + suffix), brief);
      sporos::write_matrix_market(folder.file("pattern.mtx" + suffix), ones,
                                  {.field = MatrixMarketField::pattern});
      sporos::write_tns(folder.file("digits3.tns" + suffix), tensor);
      sporos::write_smtx(folder.file("pattern.smtx" + suffix), ones);
      for (const std::string name :
           {"digits17.mtx", "digits3.mtx", "pattern.mtx", "digits3.tns", "pattern.smtx"})
        folder.add(name + suffix, file_bytes(folder.file(name)));
    }
    return true;
  }();
  (void)written;
  return folder;
}

template <int Order>
void read_file(benchmark::State& state, const std::string& name) {
  const std::string path = data().file(name);
  sporos::ReadOptions options;
  options.threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const auto entries = sporos::read_entries<double, Order>(path, options);
    if (entries.size() != entry_count) state.SkipWithError("entries are missing");
    benchmark::DoNotOptimize(entries.values.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * data().bytes(name));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * entry_count);
}

void write_file(benchmark::State& state, const std::string& name) {
  const auto entries = sporos::read_matrix_market_entries<double>(data().file(name));
  const std::string path = data().file("written-" + name);
  sporos::MatrixMarketWriteOptions options;
  options.threads = static_cast<int>(state.range(0));
  for (auto _ : state) sporos::write_matrix_market(path, entries, options);
  std::remove(path.c_str());
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * data().bytes(name));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * entry_count);
}

#ifdef SPOROS_HAVE_EIGEN
void eigen_load_market(benchmark::State& state, const std::string& name) {
  const std::string path = data().file(name);
  for (auto _ : state) {
    Eigen::SparseMatrix<double> matrix;
    if (!Eigen::loadMarket(matrix, path) || matrix.rows() != 50'000) state.SkipWithError("not read");
    benchmark::DoNotOptimize(matrix.valuePtr());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * data().bytes(name));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * entry_count);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const sporos::ScopeGuard guard(argc, argv);
  const int threads = sporos::io::default_threads();
  const auto add = [&](const std::string& what, const std::string& name, auto* function,
                       bool with_threads = true) {
    auto* const b = benchmark::RegisterBenchmark(sporos::text(what, '/', name).c_str(), function, name);
    b->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
    if (!with_threads) return;
    b->ArgName("threads");
    for (int count = 1; count < threads; count *= 2) b->Arg(count);
    b->Arg(threads);
  };
  for (const std::string suffix : {"", ".gz"}) {
    for (const std::string name : {"digits17.mtx", "digits3.mtx", "pattern.mtx", "pattern.smtx"})
      add("read", name + suffix, read_file<2>);
    add("read", "digits3.tns" + suffix, read_file<3>);
    add("write", "digits17.mtx" + suffix, write_file);
  }
#ifdef SPOROS_HAVE_EIGEN
  for (const std::string name : {"digits17.mtx", "digits3.mtx"})
    add("eigen_loadMarket", name, eigen_load_market, false);
  benchmark::AddCustomContext(
      "eigen", sporos::text(EIGEN_WORLD_VERSION, '.', EIGEN_MAJOR_VERSION, '.', EIGEN_MINOR_VERSION));
#endif
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
