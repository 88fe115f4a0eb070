// SPDX-License-Identifier: Apache-2.0

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.WindowStore;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.CompactionStyle;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.WriteBufferManager;

/**
 * Goal: the state stores of Kafka Streams hold on Varve what they should. Method: a topology runs in one process, on random
 * records of a fixed seed; its stores and outputs are compared with what plain Java computes from the same records. The driver
 * flushes all stores after each record, which makes many small tables that are compacted.
 *
 * <p>Usage: java States TEST-STYLE, where STYLE is "level" or "universal"; or java States --list.
 */
public class States {
  /** Gives all stores one cache and one limit of memtables, and small memtables; sets the style. */
  public static class SharedMemory implements RocksDBConfigSetter {
    static final Cache CACHE = new LRUCache(16 << 20);
    static final WriteBufferManager BUFFERS = new WriteBufferManager(8 << 20, CACHE);

    @Override
    public void setConfig(String store, Options options, Map<String, Object> configs) {
      BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
      table.setBlockCache(CACHE);
      table.setCacheIndexAndFilterBlocks(true);
      options.setTableFormatConfig(table);
      options.setWriteBufferManager(BUFFERS);
      options.setWriteBufferSize(64 << 10);
      options.setCompactionStyle(style);
      stores++;
    }

    @Override
    public void close(String store, Options options) {}
  }

  static final String[] TESTS = {
    "counts", "ranges", "tableJoins", "streamJoins", "tumblingWindows", "sessionWindows", "suppress", "versions",
  };
  static final Serde<String> STRING = Serdes.String();
  static final Serde<Long> LONG = Serdes.Long();
  static final long START = 1_700_000_000_000L;

  static CompactionStyle style = CompactionStyle.LEVEL;
  static int stores = 0;

  final Random random = new Random(7);
  final StreamsBuilder builder = new StreamsBuilder();
  int compared = 0;

  static Consumed<String, String> strings() {
    return Consumed.with(STRING, STRING);
  }

  static <S extends org.apache.kafka.streams.processor.StateStore> Materialized<String, Long, S> longs(String name) {
    return Materialized.<String, Long, S>as(name).withKeySerde(STRING).withValueSerde(LONG).withCachingDisabled();
  }

  static TestInputTopic<String, String> input(TopologyTestDriver driver, String topic) {
    return driver.createInputTopic(topic, new StringSerializer(), new StringSerializer());
  }

  String key(int keys) {
    return String.format("key%06d", random.nextInt(keys));
  }

  void equal(Object expected, Object found, String what) {
    compared++;
    if (!Objects.equals(expected, found)) throw new AssertionError(what + ": expected " + brief(expected) + ", found " + brief(found));
  }

  static String brief(Object o) {
    String text = String.valueOf(o);
    return text.length() > 400 ? text.substring(0, 400) + "..." : text;
  }

  static <K, V> List<KeyValue<K, V>> list(KeyValueIterator<K, V> iterator) {
    List<KeyValue<K, V>> all = new ArrayList<>();
    iterator.forEachRemaining(all::add);
    iterator.close();
    return all;
  }

  static <K, V> List<KeyValue<K, V>> list(Map<K, V> map) {
    List<KeyValue<K, V>> all = new ArrayList<>();
    map.forEach((k, v) -> all.add(KeyValue.pair(k, v)));
    return all;
  }

  void run(Consumer<TopologyTestDriver> body) throws Exception {
    Path directory = Files.createTempDirectory("varve-states");
    Properties config = new Properties();
    config.put(StreamsConfig.APPLICATION_ID_CONFIG, "states");
    config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    config.put(StreamsConfig.STATE_DIR_CONFIG, directory.toString());
    config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, STRING.getClass());
    config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, STRING.getClass());
    config.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, SharedMemory.class);
    try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config, Instant.ofEpochMilli(START))) {
      body.accept(driver);
    }
    if (stores == 0) throw new AssertionError("no store was made");
  }

  void counts() throws Exception {
    builder.stream("in", strings()).groupByKey().count(longs("counts"));
    run(driver -> {
      TestInputTopic<String, String> in = input(driver, "in");
      TreeMap<String, Long> expected = new TreeMap<>();
      for (int i = 0; i < 1_500; i++) {
        String key = key(200);
        in.pipeInput(key, "x", START + i);
        expected.merge(key, 1L, Long::sum);
      }
      KeyValueStore<String, Long> store = driver.getKeyValueStore("counts");
      equal(list(expected), list(store.all()), "all");
      for (int i = 0; i < 1_000; i++) {
        String key = key(250);
        equal(expected.get(key), store.get(key), key);
      }
    });
  }

  /** Interactive queries of a table some of whose keys are deleted. */
  void ranges() throws Exception {
    builder.table("in", strings(), Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("table").withCachingDisabled());
    run(driver -> {
      TestInputTopic<String, String> in = input(driver, "in");
      TreeMap<String, String> expected = new TreeMap<>();
      for (int i = 0; i < 1_500; i++) {
        String key = key(200);
        String value = random.nextInt(4) == 0 ? null : "value" + i;
        in.pipeInput(key, value, START + i);
        if (value == null) expected.remove(key);
        else expected.put(key, value);
      }
      KeyValueStore<String, String> store = driver.getKeyValueStore("table");
      equal(list(expected.descendingMap()), list(store.reverseAll()), "reverseAll");
      for (int i = 0; i < 300; i++) {
        String[] ends = {key(200), key(200)};
        Arrays.sort(ends);
        equal(list(expected.subMap(ends[0], true, ends[1], true)), list(store.range(ends[0], ends[1])), "range");
        equal(
            list(expected.subMap(ends[0], true, ends[1], true).descendingMap()),
            list(store.reverseRange(ends[0], ends[1])),
            "reverseRange");
        String prefix = ends[0].substring(0, 8);
        equal(
            list(expected.subMap(prefix, true, prefix + "\uffff", false)),
            list(store.prefixScan(prefix, new StringSerializer())),
            "prefixScan");
      }
    });
  }

  void tableJoins() throws Exception {
    KTable<String, String> left = builder.table("left", strings());
    KTable<String, String> right = builder.table("right", strings());
    left.join(right, (l, r) -> l + "+" + r, Materialized.as("inner"));
    left.leftJoin(right, (l, r) -> l + "+" + r, Materialized.as("left-join"));
    left.outerJoin(right, (l, r) -> l + "+" + r, Materialized.as("outer"));
    builder
        .stream("facts", strings())
        .join(right, (f, r) -> f + "+" + r, org.apache.kafka.streams.kstream.Joined.with(STRING, STRING, STRING))
        .to("enriched", Produced.with(STRING, STRING));
    run(driver -> {
      TreeMap<String, String> l = new TreeMap<>();
      TreeMap<String, String> r = new TreeMap<>();
      List<KeyValue<String, String>> enriched = new ArrayList<>();
      for (int i = 0; i < 600; i++) {
        String key = key(80);
        String value = random.nextInt(5) == 0 ? null : "v" + i;
        int kind = random.nextInt(3);
        if (kind == 2) {
          input(driver, "facts").pipeInput(key, "f" + i, START + i);
          if (r.containsKey(key)) enriched.add(KeyValue.pair(key, "f" + i + "+" + r.get(key)));
          continue;
        }
        input(driver, kind == 0 ? "left" : "right").pipeInput(key, value, START + i);
        TreeMap<String, String> side = kind == 0 ? l : r;
        if (value == null) side.remove(key);
        else side.put(key, value);
      }
      TreeMap<String, String> inner = new TreeMap<>();
      TreeMap<String, String> leftOnly = new TreeMap<>();
      TreeMap<String, String> outer = new TreeMap<>();
      l.forEach((k, v) -> leftOnly.put(k, v + "+" + r.get(k)));
      r.forEach((k, v) -> outer.put(k, l.get(k) + "+" + v));
      leftOnly.forEach((k, v) -> {
        outer.put(k, v);
        if (r.containsKey(k)) inner.put(k, v);
      });
      equal(list(inner), list(driver.<String, String>getKeyValueStore("inner").all()), "inner");
      equal(list(leftOnly), list(driver.<String, String>getKeyValueStore("left-join").all()), "left");
      equal(list(outer), list(driver.<String, String>getKeyValueStore("outer").all()), "outer");
      equal(
          enriched,
          driver.createOutputTopic("enriched", new StringDeserializer(), new StringDeserializer()).readKeyValuesToList(),
          "stream with table");
    });
  }

  void streamJoins() throws Exception {
    Duration within = Duration.ofSeconds(10);
    builder
        .stream("left", strings())
        .join(
            builder.stream("right", strings()),
            (l, r) -> l + "+" + r,
            JoinWindows.ofTimeDifferenceWithNoGrace(within),
            StreamJoined.with(STRING, STRING, STRING))
        .to("out", Produced.with(STRING, STRING));
    run(driver -> {
      record Fact(String key, String value, long time) {}
      List<List<Fact>> sides = List.of(new ArrayList<>(), new ArrayList<>());
      List<String> expected = new ArrayList<>();
      long time = START;
      for (int i = 0; i < 1_500; i++) {
        time += random.nextInt(100);
        int side = random.nextInt(2);
        Fact fact = new Fact(key(40), "v" + i, time);
        input(driver, side == 0 ? "left" : "right").pipeInput(fact.key, fact.value, time);
        List<Fact> others = sides.get(1 - side);
        for (int j = others.size() - 1; j >= 0 && others.get(j).time >= time - within.toMillis(); j--) {
          Fact other = others.get(j);
          if (!other.key.equals(fact.key)) continue;
          expected.add(fact.key + "=" + (side == 0 ? fact.value + "+" + other.value : other.value + "+" + fact.value));
        }
        sides.get(side).add(fact);
      }
      List<String> found = new ArrayList<>();
      driver
          .createOutputTopic("out", new StringDeserializer(), new StringDeserializer())
          .readKeyValuesToList()
          .forEach(pair -> found.add(pair.key + "=" + pair.value));
      Collections.sort(expected);
      Collections.sort(found);
      if (expected.size() < 100) throw new AssertionError("too few joins: " + expected.size());
      equal(expected, found, "joined");
    });
  }

  void tumblingWindows() throws Exception {
    long size = 60_000;
    builder
        .stream("in", strings())
        .groupByKey()
        .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMillis(size)))
        .count(States.<WindowStore<Bytes, byte[]>>longs("windows").withRetention(Duration.ofDays(1)));
    run(driver -> {
      TestInputTopic<String, String> in = input(driver, "in");
      TreeMap<String, TreeMap<Long, Long>> expected = new TreeMap<>();
      long time = START;
      for (int i = 0; i < 1_500; i++) {
        time += random.nextInt(2_000);
        String key = key(200);
        in.pipeInput(key, "x", time);
        expected.computeIfAbsent(key, k -> new TreeMap<>()).merge(time - time % size, 1L, Long::sum);
      }
      WindowStore<String, Long> store = driver.getWindowStore("windows");
      Instant begin = Instant.ofEpochMilli(START - size);
      Instant end = Instant.ofEpochMilli(time);
      expected.forEach((key, windows) -> {
        List<KeyValue<Long, Long>> found = new ArrayList<>();
        try (var iterator = store.fetch(key, begin, end)) {
          iterator.forEachRemaining(found::add);
        }
        equal(list(windows), found, key);
      });
      TreeMap<String, Long> all = new TreeMap<>();
      expected.forEach((key, windows) -> windows.forEach((start, count) -> all.put(key + "@" + start, count)));
      TreeMap<String, Long> found = new TreeMap<>();
      for (KeyValue<Windowed<String>, Long> pair : list(store.fetchAll(begin, end))) {
        found.put(pair.key.key() + "@" + pair.key.window().start(), pair.value);
      }
      equal(all, found, "fetchAll");
    });
  }

  void sessionWindows() throws Exception {
    long gap = 30_000;
    builder
        .stream("in", strings())
        .groupByKey()
        .windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofMillis(gap), Duration.ofHours(12)))
        .count(longs("sessions"));
    run(driver -> {
      TestInputTopic<String, String> in = input(driver, "in");
      TreeMap<String, List<Long>> times = new TreeMap<>();
      for (int i = 0; i < 1_500; i++) {
        String key = key(20);
        long time = START + random.nextInt(6 * 3600) * 1000L;  // Late ones join sessions.
        in.pipeInput(key, "x", time);
        times.computeIfAbsent(key, k -> new ArrayList<>()).add(time);
      }
      SessionStore<String, Long> store = driver.getSessionStore("sessions");
      times.forEach((key, of) -> {
        Collections.sort(of);
        List<String> expected = new ArrayList<>();
        for (int from = 0, to; from < of.size(); from = to) {
          for (to = from + 1; to < of.size() && of.get(to) - of.get(to - 1) <= gap; ) to++;
          expected.add(of.get(from) + "-" + of.get(to - 1) + "=" + (to - from));
        }
        List<String> found = new ArrayList<>();
        for (KeyValue<Windowed<String>, Long> pair : list(store.fetch(key))) {
          found.add(pair.key.window().start() + "-" + pair.key.window().end() + "=" + pair.value);
        }
        equal(expected, found, key);
      });
    });
  }

  void suppress() throws Exception {
    long size = 60_000;
    builder
        .stream("in", strings())
        .groupByKey(Grouped.with(STRING, STRING))
        .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMillis(size)))
        .count(longs("windows"))
        .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()))
        .toStream((windowed, count) -> windowed.key() + "@" + windowed.window().start())
        .to("out", Produced.with(STRING, LONG));
    run(driver -> {
      TestInputTopic<String, String> in = input(driver, "in");
      TreeMap<String, Long> expected = new TreeMap<>();
      long time = START;
      for (int i = 0; i < 1_500; i++) {
        time += random.nextInt(2_000);
        String key = key(200);
        in.pipeInput(key, "x", time);
        expected.merge(key + "@" + (time - time % size), 1L, Long::sum);
      }
      in.pipeInput("last", "x", time + 2 * size);  // Closes all others.
      TreeMap<String, Long> found = new TreeMap<>();
      for (KeyValue<String, Long> pair :
          driver.createOutputTopic("out", new StringDeserializer(), new LongDeserializer()).readKeyValuesToList()) {
        if (found.put(pair.key, pair.value) != null) throw new AssertionError("emitted again: " + pair.key);
      }
      equal(expected, found, "final counts");
    });
  }

  void versions() throws Exception {
    builder.table(
        "in",
        strings(),
        Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore("versions", Duration.ofHours(3))));
    run(driver -> {
      TestInputTopic<String, String> in = input(driver, "in");
      TreeMap<String, TreeMap<Long, String>> expected = new TreeMap<>();
      for (int i = 0; i < 1_500; i++) {
        String key = key(50);
        String value = random.nextInt(5) == 0 ? null : "v" + i;
        in.pipeInput(key, value, START + i * 100L);
        expected.computeIfAbsent(key, k -> new TreeMap<>()).put(START + i * 100L, value == null ? "" : value);
      }
      VersionedKeyValueStore<String, String> store = driver.getVersionedKeyValueStore("versions");
      expected.forEach((key, versions) -> {
        for (int i = 0; i < 20; i++) {
          long at = START + random.nextInt(150_000);
          Map.Entry<Long, String> entry = versions.floorEntry(at);
          VersionedRecord<String> found = store.get(key, at);
          String wanted = entry == null || entry.getValue().isEmpty() ? null : entry.getValue();
          equal(wanted, found == null ? null : found.value(), key + " at " + at);
        }
      });
    });
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("--list")) {
      for (String test : TESTS) for (String style : new String[] {"level", "universal"}) System.out.println(test + "-" + style);
      return;
    }
    String[] words = args[0].split("-");
    style = CompactionStyle.valueOf(words[1].toUpperCase());
    States states = new States();
    States.class.getDeclaredMethod(words[0]).invoke(states);
    System.out.println(args[0] + ": " + states.compared + " answers are equal");
  }
}
