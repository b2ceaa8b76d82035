import { defineConfig } from 'vitest/config'

/** For `npm run test:hard`, which stops slow tests and prints the figures. */
export default defineConfig({
  test: {
    include: [
      'test/hard/**/*.hard.ts',
      // Properties that run longer here.
      'test/domains/contradictions.test.ts',
      'test/migration/isolation.test.ts',
      'test/protocols/dmarc/repair-dmarc.test.ts',
    ],
    root: `${import.meta.dirname}/../..`,
    // Two at a time: most of them wait rather than compute.
    maxWorkers: 2,
    globalSetup: ['test/global.ts'],
    testTimeout: 400_000,
    hookTimeout: 120_000,
    env: { PORTREEVE_HARD: '1' },
  },
})
