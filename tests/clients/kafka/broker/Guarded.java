// SPDX-License-Identifier: Apache-2.0

import java.util.Arrays;

/**
 * Runs another class's main in a process that ends when its standard input does: no process outlives the one that started it,
 * not even one that was killed.
 *
 * <p>Usage: java Guarded CLASS ARGUMENTS...
 */
public class Guarded {
  static void endWithParent() {
    try {
      while (System.in.read() >= 0) {}
    } catch (java.io.IOException gone) {
      // A pipe that cannot be read has no parent behind it either.
    }
    Runtime.getRuntime().halt(3);
  }

  public static void main(String[] args) throws Exception {
    Thread guard = new Thread(Guarded::endWithParent, "guard");
    guard.setDaemon(true);
    guard.start();
    Object rest = Arrays.copyOfRange(args, 1, args.length);
    Class.forName(args[0]).getMethod("main", String[].class).invoke(null, rest);
  }
}
