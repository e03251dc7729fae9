import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createRateLimit, readKeys } from '../../src/serve/access.js';
import { Metrics } from '../../src/serve/metrics.js';
import { isDeeperThan } from '../../src/text/json-depth.js';

describe('keys', () => {
  const secret = 'a-secret-of-some-length';
  it('are found by text and by hash, with names and rights', () => {
    const hash = createHash('sha256').update('another-secret-text').digest('hex');
    const ring = readKeys(`# who may ask\n\nshop ${secret}\nnightly sha256:${hash} admin\n`, 'keys.txt');
    expect(ring.find(secret)).toMatchObject({ name: 'shop', admin: false });
    expect(ring.find('another-secret-text')).toMatchObject({ name: 'nightly', admin: true });
    expect(ring.find(hash)).toBeUndefined();
    expect(ring.find('')).toBeUndefined();
  });
  it('are not stored as text', () => {
    const ring = readKeys(secret, 'keys.txt');
    expect(JSON.stringify(ring) + JSON.stringify(ring.find(secret))).not.toContain(secret);
  });
  it('that are wrong are reported with their line', () => {
    expect(() => readKeys('short', 'keys.txt')).toThrow(/keys.txt, line 1: the key is shorter than 16/);
    expect(() => readKeys(`\na ${secret} owner`, 'keys.txt')).toThrow(/line 2: expected KEY, NAME KEY/);
    expect(() => readKeys('a sha256:12', 'keys.txt')).toThrow(/64 hexadecimal digits/);
    // Two keys of one name would share the rate limit of that name.
    expect(() => readKeys(`shop ${secret}\n\nshop ${secret}2 admin`, 'keys.txt')).toThrow(
      /line 3: an earlier line has the name shop; give each key a name of its own/,
    );
    expect(() => readKeys(`${secret}\n${secret}2`, 'keys.txt')).not.toThrow();
    expect(() => readKeys('# nothing\n', 'keys.txt')).toThrow(/there is no key in this file/);
  });
});

describe('the rate limit', () => {
  it('admits twice the rate in a burst, then the rate', () => {
    let time = 0;
    const limit = createRateLimit(2, () => time);
    const pass = () => {
      try {
        limit.take('a');
        return true;
      } catch {
        return false;
      }
    };
    expect([1, 2, 3, 4, 5].map(pass)).toEqual([true, true, true, true, false]);
    expect(() => limit.take('a')).toThrow(
      expect.objectContaining({ kind: 'too-many-requests', retryAfter: 1 }),
    );
    limit.take('b');
    time = 500;
    expect([pass(), pass()]).toEqual([true, false]);
  });
});

describe('a batch under the rate limit', () => {
  it('counts as its number of requests: it is admitted, and the client waits afterwards', () => {
    let time = 0;
    const limit = createRateLimit(2, () => time);
    limit.take('a');
    limit.charge('a', 9);
    expect(() => limit.take('a')).toThrow(expect.objectContaining({ retryAfter: 4 }));
    limit.take('b');
    time = 3500;
    limit.take('a');
  });
});

describe('metrics', () => {
  it('are Prometheus text, labels escaped', () => {
    const metrics = new Metrics();
    const counter = metrics.counter('hits_total', 'Hits.');
    counter.add({ path: 'a"b\\\n' });
    counter.add({ path: 'a"b\\\n' }, 2);
    const times = metrics.histogram('seconds', 'Times.');
    times.observe({}, 0.004);
    times.observe({}, 60);
    metrics.gauge('depth', 'Depth.', () => [{ labels: {}, value: 7 }]);
    const lines = metrics.text().split('\n');
    expect(lines).toContain('hits_total{path="a\\"b\\\\\\n"} 3');
    expect(lines).toContain('seconds_bucket{le="0.0025"} 0');
    expect(lines).toContain('seconds_bucket{le="0.005"} 1');
    expect(lines).toContain('seconds_bucket{le="10"} 1');
    expect(lines).toContain('seconds_bucket{le="+Inf"} 2');
    expect(lines).toContain('seconds_count 2');
    expect(lines).toContain('depth 7');
  });
});

describe('the depth of JSON', () => {
  it('counts brackets, not those in strings', () => {
    expect(isDeeperThan('{"a":[[1]]}', 3)).toBe(false);
    expect(isDeeperThan('{"a":[[1]]}', 2)).toBe(true);
    expect(isDeeperThan('["[[[[","\\"[[[[","\\\\"]', 1)).toBe(false);
    expect(isDeeperThan('[],[],[]', 1)).toBe(false);
    expect(isDeeperThan('"unclosed [[[[', 1)).toBe(false);
  });
});
