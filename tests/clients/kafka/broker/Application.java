// SPDX-License-Identifier: Apache-2.0

import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.LagInfo;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.WriteBufferManager;

/**
 * One instance of the application: counts the records of the topic "in" by key, without a cache, so that "counts" gets each
 * number; and by key and hour, with a cache, so that "windows" gets some numbers and the last one. Each store has a standby in
 * another instance, and each record counts exactly once. Prints a line "status STATE RECORDS STORES LAG" five times a second:
 * records that this instance has read, stores that it has, and records of their changelogs that it has not (-1: not known).
 * Ends orderly at SIGTERM.
 *
 * <p>Usage: java Application BROKER DIRECTORY
 */
public class Application {
  /** Gives all stores one cache and one limit of memtables; tables are small, so that there are compactions. */
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
      options.setWriteBufferSize(512 << 10);
      options.setTargetFileSizeBase(512 << 10);
      options.setMaxBytesForLevelBase(2 << 20);
    }

    @Override
    public void close(String store, Options options) {}
  }

  static final Serde<String> STRING = Serdes.String();
  static final Serde<Long> LONG = Serdes.Long();
  static final AtomicLong records = new AtomicLong();

  static <S extends StateStore> Materialized<String, Long, S> longs(String name) {
    return Materialized.<String, Long, S>as(name).withKeySerde(STRING).withValueSerde(LONG);
  }

  static Topology topology() {
    StreamsBuilder builder = new StreamsBuilder();
    KGroupedStream<String, String> in =
        builder.stream("in", Consumed.with(STRING, STRING)).peek((key, value) -> records.incrementAndGet()).groupByKey();
    in.count(Application.<KeyValueStore<Bytes, byte[]>>longs("counts").withCachingDisabled())
        .toStream()
        .to("counts", Produced.with(STRING, LONG));
    in.windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofHours(1), Duration.ofHours(24)))
        .count(longs("windows"))
        .toStream((windowed, count) -> windowed.key() + "@" + windowed.window().start())
        .to("windows", Produced.with(STRING, LONG));
    return builder.build();
  }

  static Properties config(String broker, String directory) {
    Properties config = new Properties();
    config.put(StreamsConfig.APPLICATION_ID_CONFIG, "counter");
    config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker);
    config.put(StreamsConfig.STATE_DIR_CONFIG, directory);
    config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    config.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, 1);
    config.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
    config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, STRING.getClass());
    config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, STRING.getClass());
    config.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, SharedMemory.class);
    config.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 30_000);
    config.put(StreamsConfig.producerPrefix("transaction.timeout.ms"), 30_000);
    config.put(StreamsConfig.mainConsumerPrefix("auto.offset.reset"), "earliest");
    return config;
  }

  static String status(KafkaStreams streams) {
    long lag = -1;
    int stores = 0;
    try {
      long sum = 0;
      for (Map<Integer, LagInfo> partitions : streams.allLocalStorePartitionLags().values()) {
        for (LagInfo info : partitions.values()) sum += info.offsetLag();
        stores += partitions.size();
      }
      lag = sum;
    } catch (RuntimeException between) {
      // An instance whose tasks are being assigned does not know its lag.
    }
    return "status " + streams.state() + " " + records + " " + stores + " " + lag;
  }

  public static void main(String[] args) throws Exception {
    KafkaStreams streams = new KafkaStreams(topology(), config(args[0], args[1]));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      System.out.println(streams.close(Duration.ofMinutes(1)) ? "closed" : "not closed within a minute");
      System.out.flush();
    }));
    streams.start();
    for (; ; Thread.sleep(200)) System.out.println(status(streams));
  }
}
