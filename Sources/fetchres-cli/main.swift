import Failure
import FetchResKit
import System

// Nothing of libcurl, OpenSSL or the state is touched before a command needs it.
Terminal.occupyClosedStreams()
Signals.ignoreThoseOfCalls()
#if FETCHRES_MUTANTS
  Mutant.chosen = ThisProcess.environment(Mutant.variable).flatMap(Mutant.init(rawValue:))
#endif
ThisProcess.exit(Output.status(Commands.run(Array(CommandLine.arguments.dropFirst()))))
