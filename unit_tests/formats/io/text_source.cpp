// SPDX-License-Identifier: Apache-2.0
/// @file text_source.cpp
/// Text in blocks: cuts, last lines, gzip in one piece and in several, broken gzip, and what cannot be
/// opened.
#include "files.hpp"

#include <fcntl.h>

#include <memory>
#include <sporos/formats/io/text_sink.hpp>
#include <sporos/formats/io/text_source.hpp>
#include <thread>

namespace {
namespace text_source_tests {

using namespace sporos;
using namespace sporos_test;
using io::Block;
using io::Cut;
using io::TextOptions;
using io::TextSource;

TextOptions blocks_of(std::size_t bytes, Cut cut = Cut::at_lines) {
  TextOptions options;
  options.block_bytes = bytes;
  options.cut = cut;
  return options;
}

/// The blocks one behind the other, after a look at each.
template <class Look>
std::string all_of(TextSource& source, Look look) {
  std::string all;
  Block block;
  while (source.next(block)) {
    look(block.view());
    all += block.view();
  }
  return all;
}

std::string lines(int count) {
  std::string text;
  for (int k = 0; k < count; ++k) text += std::to_string(k * k) + (k % 7 == 0 ? "\n\n" : "\n");
  return text;
}

TEST(TextSource, DeliversWholeLinesInBlocksOfAnySize) {
  const Folder folder;
  const std::string text = lines(500);
  const std::string path = folder.put("text", text);
  for (const std::size_t bytes : {1u, 2u, 3u, 7u, 64u, 1000u, 1u << 20}) {
    TextSource source(path, blocks_of(bytes));
    EXPECT_EQ(all_of(source, [](std::string_view block) { EXPECT_EQ(block.back(), '\n'); }), text) << bytes;
    EXPECT_FALSE(source.compressed());
    EXPECT_EQ(source.file_bytes(), static_cast<std::int64_t>(text.size()));
  }
}

TEST(TextSource, CutsAtWordsWhereLinesAreLong) {
  const Folder folder;
  std::string text;
  for (int k = 0; k < 1000; ++k) text += std::to_string(k) + ' ';
  const std::string path = folder.put("text", text);
  TextSource source(path, blocks_of(16, Cut::at_words));
  std::size_t longest = 0;
  const std::string all = all_of(source, [&](std::string_view block) {
    EXPECT_TRUE(io::ends_number(block.back()));
    longest = std::max(longest, block.size());
  });
  EXPECT_EQ(all, text + '\n');
  EXPECT_LE(longest, 64u);
}

TEST(TextSource, EndsTheLastLineWithANewlineWhereverItWasCut) {
  const Folder folder;
  for (const std::string text : {"12 34 56 78 ", "12 34 56 78", "12 34 56 7\n"})
    for (std::size_t bytes = 1; bytes < 15; ++bytes) {
      TextSource source(folder.put("text", text), blocks_of(bytes, Cut::at_words));
      EXPECT_EQ(all_of(source, [](std::string_view) {}), text.ends_with('\n') ? text : text + '\n') << bytes;
    }
}

TEST(TextSource, EndsTheLastLineWithANewline) {
  const Folder folder;
  for (const std::size_t bytes : {1u, 4u, 5u, 6u, 100u}) {
    TextSource source(folder.put("text", "a\nbcd"), blocks_of(bytes));
    EXPECT_EQ(all_of(source, [](std::string_view) {}), "a\nbcd\n");
  }
}

TEST(TextSource, LeavesReadableNewlinesBehindEveryBlock) {
  const Folder folder;
  TextSource source(folder.put("text", lines(300)), blocks_of(100));
  all_of(source, [](std::string_view block) {
    for (std::size_t k = 0; k < io::text_padding; ++k) EXPECT_EQ(block.data()[block.size() + k], '\n');
  });
}

TEST(TextSource, HasNoBlockForAnEmptyFile) {
  const Folder folder;
  TextSource source(folder.put("text", ""));
  Block block;
  EXPECT_FALSE(source.next(block));
  EXPECT_FALSE(source.next(block));
}

TEST(TextSource, RefusesALineThatNeverEnds) {
  const Folder folder;
  TextOptions options = blocks_of(16);
  options.longest_line = 100;
  TextSource source(folder.put("text", "short\n" + std::string(1000, 'x')), options);
  Block block;
  ASSERT_TRUE(source.next(block));
  try {
    source.next(block);
    FAIL() << "no error";
  } catch (const io::LineFault& fault) {
    EXPECT_EQ(fault.line, 0);
    EXPECT_EQ(fault.reason, "this line is longer than 100 characters: is this a text file?");
  }
}

TEST(TextSource, ShowsAndTakesLinesBeforeBlocks) {
  const Folder folder;
  TextSource source(folder.put("text", "one\r\n\ntwo\nthree"), blocks_of(4));
  EXPECT_EQ(io::line_at(source.peek_line()), "one\r");
  EXPECT_EQ(source.lines_taken(), 0);
  EXPECT_EQ(io::line_at(source.next_line()), "one\r");
  EXPECT_EQ(io::line_at(source.next_line()), "");
  EXPECT_EQ(source.lines_taken(), 2);
  EXPECT_EQ(all_of(source, [](std::string_view) {}), "two\nthree\n");
  EXPECT_EQ(source.next_line(), nullptr);
}

TEST(TextSource, InflatesWhatIsGzipWhateverItsName) {
  const Folder folder;
  const std::string text = lines(2000);
  for (const std::size_t bytes : {10u, 1u << 20}) {
    TextSource source(folder.put("text.mtx", gzip(text)), blocks_of(bytes));
    EXPECT_TRUE(source.compressed());
    EXPECT_EQ(all_of(source, [](std::string_view) {}), text);
  }
}

/// Text that gzip makes no smaller than half, so that it is read ahead by a thread of its own.
std::string noise(int count) {
  std::string text;
  std::uint64_t x = 1;
  for (int k = 0; k < count; ++k)
    text += std::to_string(x = x * 6364136223846793005u + 1442695040888963407u) + '\n';
  return text;
}

TEST(TextSource, InflatesLongFilesInAThreadOfItsOwn) {
  const Folder folder;
  const std::string text = noise(30000);
  const std::string bytes = gzip(text);
  ASSERT_GT(bytes.size(), 1u << 17);
  TextSource source(folder.put("text.gz", bytes), blocks_of(10000));
  EXPECT_EQ(all_of(source, [](std::string_view) {}), text);
}

TEST(TextSource, MayBeLeftBeforeItsEnd) {
  const Folder folder;
  const std::string path = folder.put("text.gz", gzip(noise(30000)));
  for (int blocks = 0; blocks < 4; ++blocks) {
    TextSource source(path, blocks_of(1000));
    Block block;
    for (int k = 0; k < blocks; ++k) ASSERT_TRUE(source.next(block));
  }
}

TEST(TextSource, TakesSeveralGzipMembersAsOneText) {
  const Folder folder;
  const std::string bytes = gzip("a\nb") + gzip("") + gzip("c\n") + std::string(700, '\0');
  TextSource source(folder.put("text.gz", bytes));
  EXPECT_EQ(all_of(source, [](std::string_view) {}), "a\nbc\n");
}

TEST(TextSource, RefusesEveryTruncationOfAGzipFile) {
  const Folder folder;
  const std::string bytes = gzip(lines(50));
  for (std::size_t length = 2; length < bytes.size(); ++length) {
    const std::string path = folder.put("text.gz", bytes.substr(0, length));
    expect_parse_error(path, 0, "broken gzip data: the file ends in the middle", [&] {
      TextSource source(path);
      all_of(source, [](std::string_view) {});
    });
  }
}

TEST(TextSource, RefusesAGzipFileWithADamagedByte) {
  const Folder folder;
  const std::string text = lines(50);
  const std::string bytes = gzip(text);
  // Of the header, only the first four bytes and the reserved flags matter to what is read.
  for (const std::size_t at :
       {std::size_t{2}, std::size_t{20}, bytes.size() / 2, bytes.size() - 8, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    const std::string path = folder.put("text.gz", damaged);
    expect_parse_error(path, 0, "broken gzip data", [&] {
      TextSource source(path);
      all_of(source, [](std::string_view) {});
    });
  }
}

TEST(TextSource, RefusesBytesBehindTheLastGzipMember) {
  const Folder folder;
  for (const std::string tail : {"x", "\x1f", "plain text\n"}) {
    const std::string path = folder.put("text.gz", gzip("a\n") + tail);
    expect_parse_error(path, 0, "bytes that are not a gzip member follow", [&] {
      TextSource source(path);
      all_of(source, [](std::string_view) {});
    });
  }
}

TEST(TextSource, DeliversTheWholeLinesBeforeTheBreakInAGzipFile) {
  const Folder folder;
  const std::string text = noise(30000), bytes = gzip(text);
  const std::string path = folder.put("text.gz", bytes.substr(0, bytes.size() / 2));
  TextSource source(path, blocks_of(1000));
  std::string all;
  Block block;
  EXPECT_THROW(while (source.next(block)) all += block.view(), ParseError);
  EXPECT_GT(all.size(), text.size() / 3);
  EXPECT_EQ(all, text.substr(0, all.size()));
  EXPECT_EQ(all.back(), '\n');
}

TEST(TextSource, RefusesADirectory) {
  const Folder folder;
  expect_parse_error(folder.path(), 0, "this is a directory, expected a file",
                     [&] { TextSource source(folder.path()); });
}

TEST(TextSource, SaysWhyAFileCannotBeOpened) {
  const Folder folder;
  try {
    TextSource source(folder.file("missing.mtx"));
    FAIL() << "no error";
  } catch (const IoError& error) {
    EXPECT_EQ(error.file(), folder.file("missing.mtx"));
    EXPECT_NE(std::string(error.what()).find("No such file or directory"), std::string::npos) << error.what();
  }
}

TEST(TextSource, ReadsAPipe) {
  const Folder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string text = lines(3000);
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << text; });
  TextSource source(path, blocks_of(100));
  EXPECT_EQ(all_of(source, [](std::string_view) {}), text);
  writer.join();
  EXPECT_EQ(source.file_bytes(), 0);
}

TEST(TextSink, WritesOneGzipMemberFromPartsCompressedInParallel) {
  const Folder folder;
  std::string text;
  for (int k = 0; k < 100'000; ++k) text += std::to_string(k) + '\n';
  for (const int threads : {1, 4}) {
    const std::string path = folder.file("text.gz");
    io::TextSink sink(path, 6);
    sink.put("head\n");
    io::put_lines(sink, 100'000, io::scalar_width, threads, [](std::int64_t q, char* p) {
      p = io::format_scalar(p, q);
      *p++ = '\n';
      return p;
    });
    sink.commit();
    // One member: a reader that knows no others sees all of it.
    const std::string bytes = content(path);
    std::string out(text.size() + 5, '\0');
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    EXPECT_EQ(stream.avail_in, 0u);
    EXPECT_EQ(stream.avail_out, 0u);
    inflateEnd(&stream);
    EXPECT_EQ(out, "head\n" + text);
  }
}

TEST(TextSink, WritesTheSameBytesWithAnyNumberOfThreads) {
  const Folder folder;
  std::string first;
  for (const int threads : {1, 2, 5}) {
    io::TextSink sink(folder.file("text.gz"), 1);
    io::put_lines(sink, 150'000, io::scalar_width, threads, [](std::int64_t q, char* p) {
      p = io::format_scalar(p, q * q);
      *p++ = '\n';
      return p;
    });
    sink.commit();
    const std::string bytes = content(folder.file("text.gz"));
    if (threads == 1) first = bytes;
    EXPECT_EQ(bytes, first);
  }
}

}  // namespace text_source_tests
}  // namespace
