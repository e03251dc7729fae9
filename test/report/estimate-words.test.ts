import { describe, expect, it } from 'vitest';
import { estimateWords } from '../../src/report/words/sparsity.js';

describe('estimateWords', () => {
  it('gives the estimate with its error, or the end of its range', () => {
    expect(estimateWords({ estimate: 0.4211, standardError: 0.01312 })).toBe('0.42 ± 0.013');
    expect(estimateWords({ estimate: -0.4211, standardError: 0.5 }, 3)).toBe('−0.421 ± 0.5');
    expect(estimateWords({ estimate: -29.99, standardError: undefined })).toBe('below −30');
    expect(estimateWords({ estimate: 0.9988, standardError: undefined })).toBe('close to 1');
    expect(estimateWords({ estimate: 0.3, standardError: undefined })).toBe('about 0.30');
  });
});
