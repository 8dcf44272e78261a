/// The version of this library and of the command line.
public let fetchresVersion = "0.1.0"
