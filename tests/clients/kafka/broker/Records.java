// SPDX-License-Identifier: Apache-2.0

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Owns what is told to the application, and what it must answer: N records of a fixed seed with keys that come about fifty times
 * each, whose times spread over twenty hours; how often each key comes, and how often within each hour. The hours are those
 * before now, because a broker drops what is older than a topic keeps.
 */
class Records {
  static final long HOUR = 3_600_000;

  final int number;
  final int keys;
  final long begin = (System.currentTimeMillis() / HOUR - 21) * HOUR;
  final Map<String, Long> counts = new TreeMap<>();
  /** By key, "@", and the begin of the hour. */
  final Map<String, Long> windows = new TreeMap<>();

  private final Random random = new Random(11);
  private int sent = 0;

  Records(int number) {
    this.number = number;
    this.keys = Math.max(number / 50, 1);
  }

  /** Sends records to the topic "in" until so many are there, and counts them. */
  void sendUntil(int end, Producer<String, String> producer) {
    for (; sent < end; sent++) {
      String key = String.format("key%07d", random.nextInt(keys));
      long time = begin + 20 * HOUR * sent / number;
      producer.send(new ProducerRecord<>("in", null, time, key, "value" + sent));
      counts.merge(key, 1L, Long::sum);
      windows.merge(key + "@" + (time - time % HOUR), 1L, Long::sum);
    }
    producer.flush();
  }
}
