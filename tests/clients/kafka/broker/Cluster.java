// SPDX-License-Identifier: Apache-2.0

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Goal: an application of Kafka Streams keeps its state on Varve through the loss of an instance. Method: a broker, and two
 * instances of Application in processes of their own; one is killed in the middle of N records, and comes back. What a committed
 * reader finds in the output, and what other programs find in the directories of both instances, is what plain Java computes.
 *
 * <p>Usage: java -Dvarve=TOOL -Djava.library.path=FOLDER Cluster quick|whole|N: 100,000 records, 1,000,000, or N. Prints "RESULT
 * kafka-broker ...": records a second with two instances until one is killed; milliseconds from the killed one's start until its
 * stores lack a hundredth of the records or less; and milliseconds from the first record until all are committed. If it fails,
 * logs and stores are left in a directory varve-kafka* of java.io.tmpdir.
 */
public class Cluster {
  /** Two stores of each partition: active in one instance, a standby in the other. */
  static final int STORES = 2 * Broker.PARTITIONS;

  final Path directory;
  final Records records;
  final Broker broker;
  Child first;
  Child second;

  Cluster(Path directory, int number) throws Exception {
    this.directory = directory;
    records = new Records(number);
    broker = new Broker(directory);
  }

  Child start(String name) throws Exception {
    return new Child(directory, name, "Application", broker.address, directory.resolve(name).toString());
  }

  /** Waits until something is so, as long as the processes that should run do. */
  void await(String what, int seconds, Callable<Boolean> so, Child... needed) throws Exception {
    for (long end = System.nanoTime() + seconds * 1_000_000_000L; !so.call(); Thread.sleep(100)) {
      for (Child child : needed) if (!child.process.isAlive()) throw new AssertionError(child + " while waiting: " + what);
      if (System.nanoTime() > end) throw new AssertionError(what + ": not within " + seconds + " s; " + first + "; " + second);
    }
  }

  static boolean isUp(Child instance) {
    return instance.runs() && instance.stores() == STORES;
  }

  void startBoth() throws Exception {
    first = start("first");
    second = start("second");
    await("both instances have all stores", 1_200, () -> isUp(first) && isUp(second), broker.process, first, second);
    String library = Path.of(System.getProperty("java.library.path"), "librocksdbjni-linux64.so").toRealPath().toString();
    for (Child instance : List.of(first, second)) {
      if (!instance.maps(library)) throw new AssertionError(instance + " does not run on " + library);
    }
  }

  void killSecond() throws Exception {
    second.kill();
    int stores = StateFiles.check(directory.resolve("second"));
    if (stores < STORES) throw new AssertionError("the killed instance left " + stores + " stores");
  }

  /** Starts the killed instance again, and returns the milliseconds until it has its stores again. */
  long restartSecond() throws Exception {
    long begin = System.nanoTime();
    second = start("second");
    await(
        "the killed instance has its stores again",
        1_200,
        () -> isUp(second) && second.lag() >= 0 && second.lag() <= records.number / 100,
        broker.process,
        first,
        second);
    return millisSince(begin);
  }

  static long millisSince(long begin) {
    return (System.nanoTime() - begin) / 1_000_000;
  }

  void run() throws Exception {
    startBoth();
    int number = records.number;
    try (Producer<String, String> producer = producer()) {
      long begin = System.nanoTime();
      records.sendUntil(number / 2, producer);
      await("a quarter is read", 900, () -> first.records() + second.records() >= number / 4, broker.process, first, second);
      long rate = (first.records() + second.records()) * 1000 / Math.max(millisSince(begin), 1);
      killSecond();
      records.sendUntil(number * 3 / 4, producer);
      long restored = restartSecond();
      records.sendUntil(number, producer);
      await("all is committed", 1_200, () -> broker.committed("in") == number, broker.process, first, second);
      System.out.printf(
          "RESULT kafka-broker records=%d per_second=%d restored_millis=%d all_millis=%d%n",
          number, rate, restored, millisSince(begin));
    }
    awaitStandbys();
    compareOutput();
    first.close();
    second.close();
    first.join();
    second.join();
    compareState("first");
    compareState("second");
  }

  /**
   * Waits until no transaction is open and each standby has what its changelog has: for three seconds no store lacks more than
   * the mark of a transaction's end, which is a record of the changelog, but none of a store.
   */
  void awaitStandbys() throws Exception {
    await("transactions end", 300, () -> broker.settled("counts") && broker.settled("windows"), broker.process, first, second);
    for (int quiet = 0; quiet < 30; quiet++, Thread.sleep(100)) {
      if (standbysAreNear()) continue;
      await("standbys have all", 300, this::standbysAreNear, broker.process, first, second);
      quiet = 0;
    }
  }

  boolean standbysAreNear() {
    for (Child instance : List.of(first, second)) {
      if (!isUp(instance) || instance.lag() < 0 || instance.lag() > STORES) return false;
    }
    return true;
  }

  Producer<String, String> producer() {
    Properties config = new Properties();
    config.put("bootstrap.servers", broker.address);
    config.put("linger.ms", "20");
    config.put("enable.idempotence", "true");
    return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
  }

  /** Compares the committed output: "counts" has each number of each key once, in order; "windows" ends in the right ones. */
  void compareOutput() throws Exception {
    Map<String, Long> counts = new TreeMap<>();
    Map<String, Long> windows = new TreeMap<>();
    read("counts", record -> {
      Long before = counts.put(record.key(), record.value());
      if (record.value() != (before == null ? 1 : before + 1)) {
        throw new AssertionError(record.key() + " has " + record.value() + " after " + before);
      }
    });
    read("windows", record -> windows.put(record.key(), record.value()));
    equal(records.counts, counts, "counts in the output");
    equal(records.windows, windows, "windows in the output");
  }

  void read(String topic, Consumer<ConsumerRecord<String, Long>> each) throws Exception {
    Properties config = new Properties();
    config.put("bootstrap.servers", broker.address);
    config.put("isolation.level", "read_committed");
    Map<TopicPartition, Long> ends = broker.ends(topic, IsolationLevel.READ_COMMITTED);
    try (KafkaConsumer<String, Long> consumer = new KafkaConsumer<>(config, new StringDeserializer(), new LongDeserializer())) {
      consumer.assign(ends.keySet());
      consumer.seekToBeginning(ends.keySet());
      await("the output is read: " + topic, 300, () -> {
        consumer.poll(Duration.ofMillis(500)).forEach(each);
        return ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
      });
    }
  }

  void compareState(String instance) throws Exception {
    Path files = directory.resolve(instance);
    StateFiles.check(files);
    compareState(instance + ", varve scan", StateFiles.read(files, false));
    if (!StateFiles.rocksdbIsThere()) {
      System.out.println("there is no ldb of RocksDB: " + instance + " is not read with it");
      return;
    }
    compareState(instance + ", ldb scan", StateFiles.read(files, true));
    StateFiles.check(files);
  }

  void compareState(String what, StateFiles found) {
    equal(records.counts, found.counts, what + ", counts");
    equal(records.windows, found.windows, what + ", windows");
  }

  static void equal(Map<String, Long> expected, Map<String, Long> found, String what) {
    System.out.println(what + ": " + found.size() + (expected.equals(found) ? " are equal" : " are not " + expected.size()));
    if (expected.equals(found)) return;
    for (String key : expected.keySet()) {
      if (Objects.equals(expected.get(key), found.get(key))) continue;
      throw new AssertionError(what + ": " + key + " is " + expected.get(key) + ", found " + found.get(key));
    }
    throw new AssertionError(what + ": there are more than expected");
  }

  static void remove(Path directory) throws Exception {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }

  public static void main(String[] args) throws Exception {
    int number = args[0].equals("quick") ? 100_000 : args[0].equals("whole") ? 1_000_000 : Integer.parseInt(args[0]);
    Path directory = Files.createTempDirectory("varve-kafka");
    Cluster cluster = new Cluster(directory, number);
    cluster.run();
    cluster.broker.process.kill();
    remove(directory);
  }
}
