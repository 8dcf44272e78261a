import FetchResKit
import System

// Nothing of libcurl, OpenSSL or the state is touched before a command needs it.
Signals.ignoreBrokenPipes()
ThisProcess.exit(Output.status(Commands.run(Array(CommandLine.arguments.dropFirst()))))
