import Failure

/// `fetchres completion`.
enum CompletionCommand {
  static let spec = CommandSpec(
    name: "completion", example: "source <(fetchres completion bash)", operands: "bash|zsh|fish",
    verbs: ["bash", "zsh", "fish"],
    summary: "Print what makes a shell complete the words of fetchres.",
    options: [],
    notes: """
      bash: put it into ~/.local/share/bash-completion/completions/fetchres.
      zsh: put it into a file _fetchres in a directory of $fpath.
      fish: put it into ~/.config/fish/completions/fetchres.fish.
      """,
    operandCount: 1...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    switch arguments.operands[0] {
    case "bash": Output.write(Completion.bash(Commands.all))
    case "zsh": Output.write(Completion.zsh(Commands.all))
    case "fish": Output.write(Completion.fish(Commands.all))
    default:
      throw FetchFailure(
        .usage, "there is no completion for '\(arguments.operands[0])'", hint: spec.usage)
    }
    return 0
  }
}
