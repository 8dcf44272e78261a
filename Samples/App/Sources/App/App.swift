import FetchResKit
import Glibc

/// Keeps a resource in a directory, and says how it goes: `App DIRECTORY URL KEY`.
@main struct App {
  static func main() async {
    let words = CommandLine.arguments
    guard words.count == 4 else {
      print("usage: App DIRECTORY URL KEY")
      exit(2)
    }
    let fetcher = Fetcher(directory: words[1], stateDirectory: words[1] + ".state")
    if let old = await fetcher.available { print("here already: \(old.version), \(old.path)") }

    let request = PullRequest(url: words[2], keys: [words[3]])
    do throws(FetchFailure) {
      for try await event in fetcher.events(request) { show(event) }
    } catch {
      print("\(error.category.rawValue): \(error.message)")
      if let hint = error.hint { print("hint: \(hint)") }
      exit(error.exitCode)
    }
  }

  static func show(_ event: FetchEvent) {
    switch event {
    case .manifest(_, let version, _, let size, _): print("newest: \(version), \(size) bytes")
    case .progress(let progress): print("verified: \(progress.verified) of \(progress.total)")
    case .note(let text, let hint): print(text, hint ?? "")
    case .alert(let category, let message, _): print("alert: \(category.rawValue): \(message)")
    case .complete(let result): print("complete: \(result.version), \(result.path)")
    default: break
    }
  }
}
