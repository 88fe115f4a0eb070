// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads the stores that an instance has left in its directory, with programs of their own: `varve check` and `varve scan` of the
 * installed tool that the property "varve" names, and `ldb scan` of Debian's RocksDB, if it is installed.
 */
class StateFiles {
  /** An entry as both programs print it: the key and the value in hex. */
  private static final Pattern ENTRY = Pattern.compile("(?:0x)?([0-9A-Fa-f]+)(?:\t| : | ==> )(?:0x)?([0-9A-Fa-f]+)");

  private static final String VARVE = System.getProperty("varve");
  private static final Path LDB = Path.of("/usr/bin/ldb");

  final Map<String, Long> counts = new TreeMap<>();
  final Map<String, Long> windows = new TreeMap<>();

  static boolean rocksdbIsThere() {
    return Files.isExecutable(LDB);
  }

  /** Returns the databases below a directory. */
  static List<Path> stores(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> file.endsWith("CURRENT")).map(Path::getParent).sorted().toList();
    }
  }

  /** Compares every checksum of the databases below a directory, and returns how many there are. */
  static int check(Path directory) throws Exception {
    List<Path> stores = stores(directory);
    for (Path store : stores) lines(VARVE, "check", store.toString());
    return stores.size();
  }

  /** Reads what the databases below a directory hold, by RocksDB's program or by Varve's. */
  static StateFiles read(Path directory, boolean rocksdb) throws Exception {
    StateFiles files = new StateFiles();
    for (Path store : stores(directory)) {
      boolean windowed = store.getParent().endsWith("windows");
      String family = "keyValueWithTimestamp";
      for (String line :
          rocksdb
              ? lines(LDB.toString(), "--db=" + store, "--column_family=" + family, "scan", "--hex")
              : lines(VARVE, "scan", store.toString(), "--family", family, "--hex")) {
        files.add(line, windowed);
      }
    }
    return files;
  }

  /** Adds an entry: a value is a time and a number, and the key of a window ends in its begin and four bytes more. */
  private void add(String line, boolean windowed) {
    Matcher entry = ENTRY.matcher(line);
    if (!entry.matches()) throw new AssertionError("not an entry: " + line);
    byte[] key = HexFormat.of().parseHex(entry.group(1));
    long number = ByteBuffer.wrap(HexFormat.of().parseHex(entry.group(2))).getLong(8);
    int length = windowed ? key.length - 12 : key.length;
    String name = new String(key, 0, length, StandardCharsets.UTF_8);
    if (windowed) name += "@" + ByteBuffer.wrap(key).getLong(length);
    if ((windowed ? windows : counts).put(name, number) != null) throw new AssertionError(name + " is in two stores");
  }

  /** Returns what a program prints; it must succeed. */
  private static List<String> lines(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (BufferedReader reader = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
      List<String> lines = reader.lines().toList();
      if (process.waitFor() == 0) return lines;
      throw new AssertionError(Arrays.toString(command) + ": " + String.join("\n", lines));
    }
  }
}
