/// The version of this library and of the command line.
package let fetchresVersion = "0.1.0"
