import { defineConfig } from 'vitest/config'

/** `npm run test:hard`: one after the other, twenty minutes at most, each with what it measured in its last lines. */
export default defineConfig({
  test: {
    include: ['test/hard/**/*.hard.ts'],
    root: `${import.meta.dirname}/../..`,
    maxWorkers: 1,
    fileParallelism: false,
    globalSetup: ['test/global.ts'],
    testTimeout: 400_000,
    hookTimeout: 120_000,
    env: { PORTREEVE_HARD: '1' },
  },
})
