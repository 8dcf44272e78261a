import Failure
import System

/// The files below a directory, as an HTTP server shows them: regular files alone, nothing hidden,
/// nothing behind a symbolic link.
package struct StaticSite: Sendable {
  private let root: Descriptor

  /// Opens the directory as the user wrote it, once; everything below it is opened from there.
  package init(_ path: String) throws(FetchFailure) {
    do throws(SystemError) {
      root = try Descriptor.open(path, Descriptor.readOnly | Descriptor.directory)
    } catch {
      switch error.code {
      case SystemError.notDirectory:
        throw FetchFailure(
          .usage, "'\(path)' is no directory", hint: "name the directory that publish writes")
      case SystemError.notFound:
        throw FetchFailure(
          .usage, "there is no directory '\(path)'", hint: "name the directory that publish writes")
      default:
        throw error.failure("cannot open the site '\(path)'")
      }
    }
  }

  /// The file that a request target stands for.
  package func file(_ target: String) throws(SiteRefusal) -> SiteFile {
    try file(components: try Self.components(target))
  }

  /// The file behind decoded names, of which there is at least one.
  package func file(components: [String]) throws(SiteRefusal) -> SiteFile {
    do throws(SystemError) {
      var directory = root
      for name in components.dropLast() {
        directory = try directory.open(name, Descriptor.readOnly | Descriptor.directory)
      }
      let descriptor = try directory.open(components[components.count - 1], Descriptor.readOnly)
      let status = try descriptor.status()
      guard status.kind == .regular else { throw SystemError(SystemError.isDirectory, "open") }
      return SiteFile(components: components, descriptor: descriptor, status: status)
    } catch {
      switch error.code {
      case SystemError.notFound, SystemError.notDirectory, SystemError.isDirectory,
        SystemError.symbolicLink, SystemError.nameTooLong, SystemError.noDevice:
        throw .notFound
      case SystemError.notPermitted: throw .forbidden
      default: throw .unreadable
      }
    }
  }

  /// The decoded names in a request target in origin form (`/a/b?query`) or absolute form
  /// (`http://host/a/b?query`; RFC 9112 section 3.2); at least one. The query is ignored.
  package static func components(_ target: String) throws(SiteRefusal) -> [String] {
    var path = Array(target.utf8)[...]
    if path.first != UInt8(ascii: "/") {
      let scheme = "http://"
      guard target.prefix(scheme.count).lowercased() == scheme else { throw .malformed }
      path = path.dropFirst(scheme.utf8.count).drop { $0 != UInt8(ascii: "/") }
    }
    path = path.prefix { $0 != UInt8(ascii: "?") }
    var names: [String] = []
    for encoded in path.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    {
      names.append(try component(encoded))
    }
    if names.isEmpty { throw .notFound }
    return names
  }

  /// One name, percent-decoded once (RFC 3986 section 2.1). A name that begins with a dot is hidden,
  /// which covers dot segments as well; a slash that was encoded separates nothing.
  private static func component(_ encoded: ArraySlice<UInt8>) throws(SiteRefusal) -> String {
    var bytes: [UInt8] = []
    var rest = encoded
    while let byte = rest.popFirst() {
      if byte != UInt8(ascii: "%") {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self).lowercased()
      guard rest.count >= 2, let decoded = Hex.decode(digits) else { throw .malformed }
      bytes += decoded
      rest = rest.dropFirst(2)
    }
    guard let name = String(validating: bytes, as: UTF8.self), !bytes.isEmpty,
      bytes.first != UInt8(ascii: "."), !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0)
    else { throw .notFound }
    return name
  }
}

/// Why a target stands for no file that may be served.
package enum SiteRefusal: Error, Sendable, Equatable {
  /// No path, or one that is not percent-encoded as RFC 3986 says.
  case malformed
  /// No regular file is there, or none that is shown.
  case notFound
  /// The file system keeps it from this process.
  case forbidden
  /// The file system failed, or this process has too many files open.
  case unreadable
}
