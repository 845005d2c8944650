// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module level of PTX: directives, variables, function heads. Bodies are read in Body.cpp.
#include "runtime/simulator/ptx/Body.h"
#include "runtime/simulator/ptx/Declarations.h"

namespace stator::sim::ptx {

namespace {

class ModuleParser {
public:
  explicit ModuleParser(const std::vector<Token> &tokens) : cursor(tokens) {}

  Module run() {
    if (!cursor.acceptDot("version")) cursor.fail("a PTX module begins with .version");
    parseVersion();
    if (!cursor.acceptDot("target")) cursor.fail("expected .target after .version");
    module.target = cursor.expectWord("a target");
    while (cursor.accept(',')) cursor.expectWord("a target option");
    while (cursor.peek().kind != TokenKind::end) parseTopLevel();
    return std::move(module);
  }

private:
  void parseVersion() {
    const Token &token = cursor.take();
    // "9.0" was read as a decimal float; its text is what counts.
    size_t dot = token.text.find('.');
    if (token.kind != TokenKind::float64 || dot == std::string_view::npos || token.text.size() > 6 || dot == 0 ||
        dot + 1 == token.text.size())
      throw SyntaxError(token.line, "malformed .version");
    module.versionMajor = static_cast<unsigned>(std::stoul(std::string(token.text.substr(0, dot))));
    module.versionMinor = static_cast<unsigned>(std::stoul(std::string(token.text.substr(dot + 1))));
    if (module.versionMajor < 6 || module.versionMajor > 9)
      throw VersionError(token.line, "PTX version " + std::string(token.text) + " is not supported (6.0 to 9.x)");
  }

  void parseTopLevel() {
    bool isExtern = false, visible = false;
    for (;;) {
      if (cursor.acceptDot("extern"))
        isExtern = true;
      else if (cursor.acceptDot("visible") || cursor.acceptDot("weak") || cursor.acceptDot("common"))
        visible = true;
      else
        break;
    }
    const Token &token = cursor.take();
    if (token.is(';')) return;
    if (token.kind != TokenKind::dotWord)
      throw SyntaxError(token.line, "expected a directive, found " + Cursor::describe(token));
    if (token.text == "address_size") {
      if (cursor.expectInteger("32 or 64") != 64) throw SyntaxError(token.line, "only .address_size 64 is supported");
    } else if (token.text == "file") {
      parseFile();
    } else if (token.text == "section") {
      skipSection();
    } else if (token.text == "pragma") {
      while (!cursor.accept(';')) skipOne("pragma");
    } else if (token.text == "loc") {
      skipLoc();
    } else if (token.text == "alias") {
      while (!cursor.accept(';')) skipOne("alias");
    } else if (token.text == "entry" || token.text == "func") {
      parseFunction(token.text == "entry", isExtern);
    } else if (Space space = spaceNamed(token.text);
               space == Space::global || space == Space::constant || space == Space::shared) {
      if (space == Space::constant && cursor.accept('[')) {
        cursor.expectInteger("a constant bank");
        cursor.expect(']');
      }
      for (Variable &variable : parseVariables(cursor, space)) {
        variable.isExtern = isExtern;
        variable.visible = visible;
        module.variables.push_back(std::move(variable));
      }
    } else {
      throw SyntaxError(token.line, "unknown directive ." + std::string(token.text));
    }
  }

  void skipOne(const char *what) {
    if (cursor.peek().kind == TokenKind::end) cursor.fail(std::string(what) + " is not finished");
    cursor.take();
  }

  void parseFile() {
    auto index = cursor.expectInteger("a file number");
    if (cursor.peek().kind != TokenKind::string) cursor.fail("expected a file name");
    module.files[static_cast<uint32_t>(index)] = std::string(cursor.take().text);
    while (cursor.accept(',')) cursor.expectInteger("a number");
  }

  void skipLoc() {
    for (int i = 0; i < 3; ++i) cursor.expectInteger("a number");
  }

  void skipSection() {
    while (!cursor.accept('{')) skipOne("section");
    while (!cursor.accept('}')) skipOne("section");
  }

  void parseFunction(bool isEntry, bool isExtern) {
    Function function;
    function.isEntry = isEntry;
    function.line = cursor.line();
    std::vector<bool> resultRegs, paramRegs;
    if (!isEntry && cursor.peek().is('(')) function.results = parseParams(cursor, resultRegs);
    function.name = cursor.expectWord("a function name");
    if (cursor.peek().is('(')) function.params = parseParams(cursor, paramRegs);
    parseFunctionDirectives(function);
    auto bindRegisters = [&](std::vector<Param> &params, const std::vector<bool> &regs) {
      for (size_t i = 0; i < params.size(); ++i)
        if (regs[i]) {
          params[i].reg = static_cast<uint32_t>(function.registers.size());
          function.registers.push_back({params[i].name, params[i].type});
        }
    };
    bindRegisters(function.results, resultRegs);
    bindRegisters(function.params, paramRegs);
    if (cursor.accept(';')) {
      // A declaration; a definition may come before or after it.
    } else {
      cursor.expect('{');
      function.hasBody = true;
      parseBody(cursor, module, function);
    }
    for (Function &known : module.functions)
      if (known.name == function.name) {
        if (known.hasBody && function.hasBody)
          throw SyntaxError(function.line, "function " + function.name + " is defined twice");
        if (function.hasBody) known = std::move(function);
        return;
      }
    module.functions.push_back(std::move(function));
  }

  void parseTriple(uint32_t (&out)[3]) {
    for (uint32_t &v : out) v = 1;
    for (int i = 0; i < 3; ++i) {
      int64_t n = cursor.expectInteger("a size");
      if (n < 1 || n > INT32_MAX) cursor.fail("size is out of range");
      out[i] = static_cast<uint32_t>(n);
      if (!cursor.accept(',')) break;
    }
  }

  void parseFunctionDirectives(Function &function) {
    while (cursor.peek().kind == TokenKind::dotWord) {
      const Token &token = cursor.take();
      if (token.text == "maxntid")
        parseTriple(function.maxThreads);
      else if (token.text == "reqntid")
        parseTriple(function.requiredThreads);
      else if (token.text == "reqnctapercluster")
        parseTriple(function.requiredCluster);
      else if (token.text == "maxnreg")
        function.maxRegisters = static_cast<uint32_t>(cursor.expectInteger("a count"));
      else if (token.text == "minnctapersm" || token.text == "maxnctapersm")
        function.minBlocksPerSm = static_cast<uint32_t>(cursor.expectInteger("a count"));
      else if (token.text == "maxclusterrank")
        cursor.expectInteger("a count");
      else if (token.text == "explicitcluster")
        function.explicitCluster = true;
      else if (token.text == "noreturn")
        function.noReturn = true;
      else if (token.text == "unique" || token.text == "blocksareclusters")
        continue;
      else if (token.text == "abi_preserve" || token.text == "abi_preserve_control")
        cursor.expectInteger("a count");
      else if (token.text == "pragma") {
        while (!cursor.accept(';')) skipOne("pragma");
      } else if (token.text == "attribute") {
        while (!cursor.accept(')')) skipOne("attribute");
      } else
        throw SyntaxError(token.line, "unknown function directive ." + std::string(token.text));
    }
  }

  Cursor cursor;
  Module module;
};

} // namespace

Module parse(std::string_view text) {
  std::vector<Token> tokens = tokenize(text);
  return ModuleParser(tokens).run();
}

} // namespace stator::sim::ptx
