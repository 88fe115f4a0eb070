// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Owns a process with a JVM of its own, which runs on this one's classes and native library, and ends with this one. */
class Child {
  final String name;
  final Process process;
  final Path log;
  private final Thread reader;
  private volatile String[] status = "status NEW 0 0 -1".split(" ");
  private volatile boolean closed = false;

  /** Starts the main of the words' first one with the others. Its errors are in the file NAME.log of the directory. */
  Child(Path directory, String name, String... words) throws IOException {
    this.name = name;
    log = directory.resolve(name + ".log");
    List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElse("java"), "-Xmx512m"));
    command.add("-Djava.io.tmpdir=" + directory);
    command.add("-Djava.library.path=" + System.getProperty("java.library.path"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), "Guarded"));
    command.addAll(Arrays.asList(words));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile())).start();
    reader = new Thread(this::readLines, name);
    reader.setDaemon(true);
    reader.start();
  }

  private void readLines() {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
      for (String line; (line = lines.readLine()) != null; ) {
        if (line.startsWith("status ")) status = line.split(" ");
        if (line.equals("closed")) closed = true;
      }
    } catch (IOException killed) {
      // The last status stays.
    }
  }

  boolean runs() {
    return status[1].equals("RUNNING");
  }

  long records() {
    return Long.parseLong(status[2]);
  }

  int stores() {
    return Integer.parseInt(status[3]);
  }

  /** Returns how many records its stores lack, or -1 if it does not know. */
  long lag() {
    return Long.parseLong(status[4]);
  }

  /** Returns whether it has the file mapped. */
  boolean maps(String file) throws IOException {
    return Files.readString(Path.of("/proc/" + process.pid() + "/maps")).contains(file);
  }

  /** Kills it without a chance to close anything. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Asks it to close; join() waits. The handle's method leaves the pipes open, other than the process's. */
  void close() {
    process.toHandle().destroy();
  }

  void join() throws InterruptedException {
    boolean ended = process.waitFor(90, TimeUnit.SECONDS);
    if (ended) reader.join(5_000);
    if (!closed) throw new AssertionError(this + " did not close");
  }

  @Override
  public String toString() {
    return name + " (" + String.join(" ", status) + (process.isAlive() ? "" : ", ended") + ", see " + log + ")";
  }
}
