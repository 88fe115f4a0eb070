// SPDX-License-Identifier: Apache-2.0

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Owns a broker, which is its own controller (KRaft), on two free ports of the loopback; its topics, and what it says of them.
 */
class Broker {
  static final int PARTITIONS = 4;

  final String address;
  final Child process;
  final Admin admin;

  Broker(Path directory) throws Exception {
    int port = freePort();
    address = "127.0.0.1:" + port;
    String file = directory.resolve("server.properties").toString();
    Files.write(Path.of(file), settings(directory, port, freePort()));
    Child format =
        new Child(directory, "format", "kafka.tools.StorageTool", "format", "-t", Uuid.randomUuid().toString(), "-c", file);
    if (!format.process.waitFor(1_200, TimeUnit.SECONDS) || format.process.exitValue() != 0) throw new AssertionError(format);
    process = new Child(directory, "broker", "kafka.Kafka", file);
    Properties config = new Properties();
    config.put("bootstrap.servers", address);
    config.put("default.api.timeout.ms", "1200000");
    admin = Admin.create(config);
    List<NewTopic> topics = new ArrayList<>();
    for (String name : List.of("in", "counts", "windows")) {
      topics.add(new NewTopic(name, PARTITIONS, (short) 1).configs(Map.of("retention.ms", "-1")));
    }
    admin.createTopics(topics).all().get(1_200, TimeUnit.SECONDS);
  }

  private static int freePort() throws Exception {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return probe.getLocalPort();
    }
  }

  private static List<String> settings(Path directory, int port, int controller) {
    return List.of(
        "process.roles=broker,controller",
        "node.id=1",
        "controller.quorum.voters=1@127.0.0.1:" + controller,
        "controller.listener.names=CONTROLLER",
        "listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller,
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs=" + directory.resolve("broker"),
        "auto.create.topics.enable=false",
        "broker.session.timeout.ms=120000",
        "offsets.topic.num.partitions=1",
        "offsets.topic.replication.factor=1",
        "transaction.state.log.num.partitions=2",
        "transaction.state.log.replication.factor=1",
        "transaction.state.log.min.isr=1",
        "group.initial.rebalance.delay.ms=1000");
  }

  static List<TopicPartition> partitions(String topic) {
    List<TopicPartition> all = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) all.add(new TopicPartition(topic, i));
    return all;
  }

  /** Returns how many records of a topic the application has finished with. */
  long committed(String topic) throws Exception {
    long sum = 0;
    Map<TopicPartition, OffsetAndMetadata> offsets =
        admin.listConsumerGroupOffsets("counter").partitionsToOffsetAndMetadata().get(60, TimeUnit.SECONDS);
    for (TopicPartition partition : partitions(topic)) {
      if (offsets.get(partition) != null) sum += offsets.get(partition).offset();
    }
    return sum;
  }

  /** Returns the end of each partition of a topic, as a reader of this isolation sees it. */
  Map<TopicPartition, Long> ends(String topic, IsolationLevel isolation) throws Exception {
    Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
    for (TopicPartition partition : partitions(topic)) asked.put(partition, OffsetSpec.latest());
    Map<TopicPartition, Long> ends = new HashMap<>();
    for (Map.Entry<TopicPartition, ListOffsetsResultInfo> end :
        admin.listOffsets(asked, new ListOffsetsOptions(isolation)).all().get(60, TimeUnit.SECONDS).entrySet()) {
      ends.put(end.getKey(), end.getValue().offset());
    }
    return ends;
  }

  /** Returns whether no transaction of a topic is open. */
  boolean settled(String topic) throws Exception {
    return ends(topic, IsolationLevel.READ_COMMITTED).equals(ends(topic, IsolationLevel.READ_UNCOMMITTED));
  }
}
