import LibFuzzer

/// The target that the first argument names.
private let chosen: FuzzTarget? = CommandLine.arguments.dropFirst().first.flatMap { name in
  FuzzTarget.all.first { $0.name == name }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  chosen?.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

/// `Fuzz TARGET [argument of libFuzzer…]`; without a target, prints the names of all of them.
@_cdecl("Fuzz_main")
public func fuzzMain(
  _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 {
  guard chosen != nil else {
    for target in FuzzTarget.all { print(target.name) }
    return count > 1 ? 2 : 0
  }
  // The name of the program stays in front of what is left.
  arguments[1] = arguments[0]
  var rest: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = arguments + 1
  var restCount = count - 1
  return LLVMFuzzerRunDriver(&restCount, &rest, testOneInput)
}
