extension Completion {
  static func zsh(_ commands: [CommandSpec]) -> String {
    let described = commands.map { command in
      "    " + quoted("\(command.name):\(command.summary)")
    }
    return """
      #compdef fetchres
      # zsh completion of fetchres, \(head)
      _fetchres() {
        local curcontext="$curcontext" state line
        local -a commands
        commands=(
      \(described.joined(separator: "\n"))
        )
        _arguments -C '1:command:->command' '*::argument:->argument'
        case $state in
        command) _describe command commands ;;
        argument)
          case $words[1] in
      \(commands.map { zsh($0, commands) }.joined(separator: "\n"))
          esac
          ;;
        esac
      }
      if [ "$funcstack[1]" = _fetchres ]; then
        _fetchres "$@"
      else
        compdef _fetchres fetchres
      fi

      """
  }

  private static func zsh(_ command: CommandSpec, _ commands: [CommandSpec]) -> String {
    var words = command.options.flatMap { option in option.names.map { zsh($0, option) } }
    let verbs = verbs(of: command, commands)
    if !verbs.isEmpty {
      words.append(quoted("1:word:(\(verbs.joined(separator: " ")))"))
    }
    words.append(quoted("*:file:_files"))
    return "    \(command.name)) _arguments -s \\\n"
      + words.map { "      " + $0 }.joined(separator: " \\\n") + "\n      ;;"
  }

  private static func zsh(_ name: String, _ option: OptionSpec) -> String {
    var text = option.repeats ? "*\(name)" : name
    text += "[\(escaped(option.help))]"
    if let kind = kind(of: option) {
      text += ":\(escaped(option.argument ?? "")):"
      switch kind {
      case .nothing: text += " "
      case .file: text += "_files"
      case .directory: text += "_files -/"
      case .choice(let words): text += "(\(words.joined(separator: " ")))"
      }
    }
    return quoted(text)
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      if "\\[]:".contains(character) { escaped.append("\\") }
      escaped.append(character)
    }
    return escaped
  }
}
