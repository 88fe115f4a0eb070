// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Measures state of Kafka Streams on the library that java.library.path names: a stateful count of N keys in one process, and a
 * store alone, which gets N entries with put, and is asked with get, range and all. Prints "RESULT kafka part=P millis=M cpu=C",
 * C being the milliseconds of all threads of the process.
 *
 * <p>Usage: java Measure N
 */
public class Measure {
  static long begin;
  static long beginCpu;

  static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  static void start() {
    begin = System.nanoTime();
    beginCpu = cpu();
  }

  static void end(String part) {
    System.out.printf(
        "RESULT kafka part=%s millis=%d cpu=%d%n", part, (System.nanoTime() - begin) / 1_000_000, (cpu() - beginCpu) / 1_000_000);
  }

  static Properties config() throws Exception {
    Properties config = new Properties();
    config.put(StreamsConfig.APPLICATION_ID_CONFIG, "measure");
    config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    config.put(StreamsConfig.STATE_DIR_CONFIG, Files.createTempDirectory("varve-measure").toString());
    return config;
  }

  static String key(long number) {
    return String.format("user%012d", number * 2_654_435_761L & 0xffffffffffL);
  }

  /** Counts in its store the keys that a record names by two numbers. */
  static class Counter implements Processor<String, String, Void, Void> {
    KeyValueStore<String, Long> store;

    @Override
    public void init(ProcessorContext<Void, Void> context) {
      store = context.getStateStore("counts");
    }

    @Override
    public void process(Record<String, String> record) {
      long begin = Long.parseLong(record.key());
      long end = Long.parseLong(record.value());
      for (long i = begin; i < end; i++) {
        String key = key(i);
        Long count = store.get(key);
        store.put(key, count == null ? 1 : count + 1);
      }
    }
  }

  /** The driver flushes the store after each record, so one record stands for a thousand. */
  static void count(int keys) throws Exception {
    int batch = 1_000;
    StreamsBuilder builder = new StreamsBuilder();
    builder.addStateStore(
        Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("counts"), Serdes.String(), Serdes.Long())
            .withLoggingDisabled()
            .withCachingDisabled());
    builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Counter::new, "counts");
    try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config())) {
      TestInputTopic<String, String> in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
      start();
      for (int i = 0; i < keys; i += batch) in.pipeInput(String.valueOf(i), String.valueOf(i + batch));
      Random random = new Random(1);
      for (int i = 0; i < keys / 2; i += batch) {
        int begin = random.nextInt(keys - batch);
        in.pipeInput(String.valueOf(begin), String.valueOf(begin + batch));
      }
      end("count");
    }
  }

  static void store(int keys) throws Exception {
    File directory = Files.createTempDirectory("varve-measure-store").toFile();
    MockProcessorContext<Void, Void> context = new MockProcessorContext<>(config(), new org.apache.kafka.streams.processor.TaskId(0, 0), directory);
    KeyValueStore<String, String> store =
        Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("store"), Serdes.String(), Serdes.String())
            .withLoggingDisabled()
            .withCachingDisabled()
            .build();
    store.init(context.getStateStoreContext(), store);
    String value = "v".repeat(100);
    Random random = new Random(2);
    start();
    for (int i = 0; i < keys; i++) store.put(key(i), value);
    end("put");
    start();
    for (int i = 0; i < keys; i++) if (store.get(key(random.nextInt(keys))) == null) throw new AssertionError("a key is missing");
    end("get");
    start();
    long found = 0;
    for (int i = 0; i < keys / 50; i++) {
      try (KeyValueIterator<String, String> range = store.range(key(random.nextInt(keys)), "v")) {
        for (int j = 0; j < 20 && range.hasNext(); j++, found++) range.next();
      }
    }
    end("range");
    start();
    long all = 0;
    for (int round = 0; round < 3; round++) {
      try (KeyValueIterator<String, String> iterator = store.all()) {
        for (; iterator.hasNext(); all++) iterator.next();
      }
    }
    end("all");
    if (all != 3L * keys || found == 0) throw new AssertionError("found " + found + ", " + all);
    start();
    store.close();
    end("close");
  }

  public static void main(String[] args) throws Exception {
    int keys = Integer.parseInt(args[0]);
    store(keys);
    count(keys);
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM")) System.out.println("RESULT kafka part=memory kib=" + line.replaceAll("[^0-9]", ""));
    }
  }
}
