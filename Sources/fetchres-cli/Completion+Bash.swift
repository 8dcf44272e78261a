extension Completion {
  static func bash(_ commands: [CommandSpec]) -> String {
    """
    # bash completion of fetchres, \(head)
    _fetchres() {
      local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
      COMPREPLY=()
      if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W \(quoted(commands.map(\.name).joined(separator: " "))) -- "$word")
        return
      fi
      case ${COMP_WORDS[1]} in
    \(commands.map { bash($0, commands) }.joined(separator: "\n"))
      esac
    }
    complete -o filenames -o bashdefault -F _fetchres fetchres

    """
  }

  private static func bash(_ command: CommandSpec, _ commands: [CommandSpec]) -> String {
    var lines = ["  \(command.name))"]
    let cases = command.options.compactMap { option -> String? in
      guard let kind = kind(of: option) else { return nil }
      let names = option.names.joined(separator: " | ")
      let action =
        switch kind {
        case .nothing: "return"
        case .file: reply("-f") + "; return"
        case .directory: reply("-d") + "; return"
        case .choice(let words): reply("-W \(quoted(words.joined(separator: " ")))") + "; return"
        }
      return "    \(names)) \(action) ;;"
    }
    if !cases.isEmpty { lines += ["    case $previous in"] + cases + ["    esac"] }
    let names = command.options.flatMap(\.names).joined(separator: " ")
    let verbs = verbs(of: command, commands).joined(separator: " ")
    lines += [
      "    if [[ $word == -* ]]; then",
      "      \(reply("-W \(quoted(names))"))",
    ]
    if !verbs.isEmpty {
      lines += [
        "    elif [ \"$COMP_CWORD\" -eq 2 ]; then", "      \(reply("-W \(quoted(verbs))"))",
      ]
    }
    return (lines + ["    else", "      \(reply("-f"))", "    fi", "    ;;"])
      .joined(separator: "\n")
  }

  private static func reply(_ words: String) -> String {
    "mapfile -t COMPREPLY < <(compgen \(words) -- \"$word\")"
  }
}
