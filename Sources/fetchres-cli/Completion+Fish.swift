extension Completion {
  static func fish(_ commands: [CommandSpec]) -> String {
    var lines = ["# fish completion of fetchres, \(head)", "complete -c fetchres -f"]
    for command in commands {
      lines.append(
        "complete -c fetchres -n __fish_use_subcommand -a \(command.name) -d "
          + string(command.summary))
    }
    for command in commands {
      let seen = string("__fish_seen_subcommand_from \(command.name)")
      let start = "complete -c fetchres -n \(seen)"
      let verbs = verbs(of: command, commands)
      lines.append(
        verbs.isEmpty ? "\(start) -F" : "\(start) -a \(string(verbs.joined(separator: " ")))")
      for option in command.options {
        lines.append("\(start) \(fish(option)) -d \(string(option.help))")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func fish(_ option: OptionSpec) -> String {
    let names = option.names.map { name in
      name.hasPrefix("--") ? "-l \(name.dropFirst(2))" : "-s \(name.dropFirst())"
    }.joined(separator: " ")
    switch kind(of: option) {
    case nil: return names
    case .nothing: return "\(names) -x"
    case .file: return "\(names) -r -F"
    case .directory: return "\(names) -x -a '(__fish_complete_directories)'"
    case .choice(let words): return "\(names) -x -a \(string(words.joined(separator: " ")))"
    }
  }

  private static func string(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}
