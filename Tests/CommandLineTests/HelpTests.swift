import Testing

@testable import fetchres_cli

/// One table of words: help, completion and manual page say what it says.
@Suite struct HelpTests {
  @Test func `the help of a command begins with an example and fits on one screen`() {
    for command in Commands.all {
      let lines = command.help.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines[0] == "example: \(command.example)")
      #expect(command.example.contains("fetchres \(command.name)"))
      #expect(lines.count <= 50, "\(command.name) has \(lines.count) lines")
      for line in lines {
        #expect(line.count <= 100, "\(command.name): \(line)")
        #expect(!line.hasSuffix(" "), "\(command.name): \(line)")
      }
    }
    let overview = HelpCommand.overview.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(overview.count <= 50)
    #expect(overview[0] == "example: \(PullCommand.spec.example)")
    for command in Commands.all {
      #expect(overview.contains { $0.hasPrefix("  \(command.name) ") }, "\(command.name)")
    }
  }

  @Test func `every example is a command line that its command takes`() throws {
    for command in Commands.all where command.name != CompletionCommand.spec.name {
      let words = command.example.split(separator: " ").map(String.init)
      #expect(words[0] == "fetchres")
      #expect(words[1] == command.name)
      _ = try ParsedArguments(Array(words.dropFirst(2)), command)
    }
  }

  @Test func `no spelling of a command means two options, and every verb is shown`() {
    #expect(Set(Commands.all.map(\.name)).count == Commands.all.count)
    for command in Commands.all {
      let names = command.allOptions.flatMap(\.names)
      #expect(Set(names).count == names.count, "\(command.name)")
      for verb in command.verbs {
        #expect(command.operands.contains(verb), "\(command.name) \(verb)")
      }
    }
  }

  @Test func `a switch is not given a default, and what has choices names them`() {
    for option in Commands.all.flatMap(\.allOptions) {
      if option.argument == nil { #expect(option.standard == nil && option.choices.isEmpty) }
      if let standard = option.standard, !option.choices.isEmpty {
        #expect(option.choices.contains(standard))
      }
    }
  }

  @Test func `defaults that the help tells are those that count`() throws {
    let words = ["http://127.0.0.1:9/manifest"]
    let none = try ParsedArguments(words, PullCommand.spec)
    let standards = PullCommand.spec.options.flatMap { option in
      option.standard.map { [option.name, $0] } ?? []
    }
    #expect(standards.count >= 14)
    let said = try ParsedArguments(words + standards, PullCommand.spec)
    let (one, other) = (try PullCommand.request(none), try PullCommand.request(said))
    #expect("\(one)" == "\(other)")
  }
}

@Suite struct SuggestionTests {
  @Test(
    "the word that was meant is found, and nothing where none is near",
    arguments: [
      ("pul", "pull"), ("plul", "pull"), ("stauts", "status"), ("idenity", "identity"),
      ("--conections", "--connections"), ("frobnicate", nil), ("x", nil), ("", nil),
    ])
  func nearest(_ word: String, _ meant: String?) {
    let words = Commands.all.map(\.name) + ["--connections", "--offline"]
    #expect(Suggestion.nearest(to: word, among: words) == meant)
  }

  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("", "ab", 2), ("ab", "ba", 1), ("kitten", "sitting", 3),
    ("pull", "pull", 0),
  ])
  func distance(_ one: String, _ other: String, _ distance: Int) {
    #expect(Suggestion.distance(one, other) == distance)
    #expect(Suggestion.distance(other, one) == distance)
  }
}
