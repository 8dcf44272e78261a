// Preloaded: a file system on which every lock is granted, as some network ones are.
int flock(int descriptor, int operation) {
  (void)descriptor;
  (void)operation;
  return 0;
}
