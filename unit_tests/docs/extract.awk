# SPDX-License-Identifier: Apache-2.0
# Takes the code out of a Markdown document: awk -v name=NAME -v out=FOLDER -f extract.awk DOCUMENT
#
#   ```cpp            The blocks of a chapter (##), one behind the other inside main, make one program; a block with
#                     a main of its own is a program by itself.
#   ```text           What the block of C++ before it prints.
#   ```cpp refused    A program that must not compile; each line of the ```text behind it is part of an error.
#   ```sh             Commands; those that call `sporos` are run.
#
# Writes <program>.cpp and, where the document says what is printed, <program>.expected; <program>.fail.cpp for
# unit_tests/expect_compile_error.cmake; <name>.sh. Prints the name of each file, one a line.

function fault(words) {
  print FILENAME ":" FNR ": " words > "/dev/stderr"
  failed = 1
  exit 1
}

function slug(title) {
  title = tolower(title)
  gsub(/[^a-z0-9]+/, "_", title)
  gsub(/^_+|_+$/, "", title)
  return title
}

# A regular expression of CMake that matches the words.
function quoted(words) {
  gsub(/[][.*+?()^$|\\]/, "\\\\&", words)
  return words
}

function write_file(file, content) {
  printf "%s", content > (out "/" file)
  close(out "/" file)
  print file
}

function main_of(body) {
  return "// Generated: the code of a document.\n#include <sporos/sporos.hpp>\n\n#include <iostream>\n" includes \
         "\nusing namespace sporos;\nusing namespace sporos::indices;\n\nint main(int argc, char** argv) {\n" \
         "  ScopeGuard guard(argc, argv);\n" body "}\n"
}

# The block as it stands between other statements: what it includes goes to the top of the program.
function statements(  lines, count, at, text) {
  count = split(code, lines, "\n")
  for (at = 1; at < count; ++at) {
    if (lines[at] ~ /^#include/) includes = includes lines[at] "\n"
    else text = text lines[at]
    text = text "\n"
  }
  return "#line " first_line " \"" FILENAME "\"\n" text
}

function finish_code(  mark) {
  if (refuse) {
    finish_refused()
    last = "refused"
    refused = name "_" chapter "_refused_" ++refusals
    outer = includes
    includes = ""
    refused_program = main_of(statements())
    includes = outer
  } else if (code ~ /(^|\n)int main\(/) {
    last = "program"
    program = chapter == "" ? name : name "_" chapter
    write_file(program ".cpp", "#line " first_line " \"" FILENAME "\"\n" code)
  } else {
    last = "chapter"
    mark = "-- line " first_line " --\\n"
    body = body "std::cout << \"" mark "\" << std::flush;\n" statements()
    expected = expected "-- line " first_line " --\n"
  }
}

function finish_text(  lines, count, at) {
  if (last == "chapter") {
    expected = expected code
  } else if (last == "program") {
    write_file(program ".expected", code)
  } else if (last == "refused") {
    count = split(code, lines, "\n")
    for (at = 1; at < count; ++at) expectations = expectations "// expect: " quoted(lines[at]) "\n"
    finish_refused()
  } else {
    fault("a ```text block, and no block of C++ that prints it")
  }
  last = ""
}

function finish_refused() {
  if (refused == "") return
  if (expectations == "") fault("no ```text block says why the code above is refused")
  write_file(refused ".fail.cpp", expectations refused_program)
  refused = expectations = ""
}

function finish_chapter() {
  finish_refused()
  if (body != "") {
    write_file(name "_" chapter ".cpp", main_of(body))
    write_file(name "_" chapter ".expected", expected)
  }
  body = expected = includes = last = ""
  refusals = 0
}

kind == "" && /^```./ {
  kind = substr($0, 4)
  refuse = kind == "cpp refused"
  first_line = FNR + 1
  code = ""
  next
}
kind == "" && /^```$/ {
  kind = "plain"
  next
}
/^```$/ {
  if (kind ~ /^cpp/) finish_code()
  else if (kind == "text") finish_text()
  else if (kind == "sh") shell = shell code
  kind = ""
  next
}
kind != "" {
  code = code $0 "\n"
  next
}
/^## / {
  finish_chapter()
  chapter = slug(substr($0, 4))
}

END {
  if (failed) exit 1
  if (kind != "") fault("a block of code is not closed")
  finish_chapter()
  count = split(shell, lines, "\n")
  for (at = 1; at < count; ++at) {
    sub(/^build\/host\/bin\//, "", lines[at])
    if (lines[at] ~ /^sporos /) commands = commands lines[at] "\n"
  }
  if (commands != "") write_file(name ".sh", commands)
}
