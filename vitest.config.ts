import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Most tests wait for a real server rather than compute: more of them than there are processors.
    maxWorkers: 4,
    globalSetup: ['test/global.ts'],
    setupFiles: ['test/answers.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
})
