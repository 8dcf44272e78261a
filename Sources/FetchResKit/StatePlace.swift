import Storage
import System

/// Where own records are kept unless somebody says otherwise, and which variable says so.
package struct StatePlace: Sendable, Equatable {
  package var path: String
  package var variable: String

  /// `$XDG_STATE_HOME/fetchres`, else `$HOME/.local/state/fetchres`, else the first directory of
  /// `$STATE_DIRECTORY`, which a service gets; nil without any of them.
  package static var standard: StatePlace? { StatePlace { ThisProcess.environment($0) } }

  /// - Parameter environment: answers the value of a variable.
  package init?(_ environment: (String) -> String?) {
    func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    if let state = value("XDG_STATE_HOME") {
      self.init(path: Path.join(state, "fetchres"), variable: "XDG_STATE_HOME")
    } else if let home = value("HOME") {
      self.init(path: Path.join(home, ".local/state/fetchres"), variable: "HOME")
    } else if let first = value("STATE_DIRECTORY")?.split(separator: ":").first {
      self.init(path: String(first), variable: "STATE_DIRECTORY")
    } else {
      return nil
    }
  }

  private init(path: String, variable: String) { (self.path, self.variable) = (path, variable) }
}
